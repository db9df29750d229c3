"""Texts that make tokenizers hang or explode: endless runs, no spaces, every plane, half characters, nothing at all.

What comes out is checked against counts made by hand, on every member that learns.
"""

import json
import time
from collections.abc import Callable

import numpy as np
import pytest

from onechange import family
from onechange.pieces import NAMED
from onechange.tokenizer import Tokenizer
from onechange.tokenizer.byte_bpe import ByteBpe

MILLION = 1_000_000
MEMBERS = [name for name in family.members("tokenizer") if "vocabulary" in family.defaults("tokenizer", name)]
MARKS = "".join(map(chr, range(0x300, 0x370)))
PLANES = "".join(
    chr(code)
    for code in range(0x110000)
    if (code % 97 == 0 and not 0xD800 <= code <= 0xDFFF) or code & 0xFFFF in (0xFFFE, 0xFFFF)
)
"""Characters of all seventeen planes, assigned or not, the two of each that are no characters among them."""

TEXTS: dict[str, Callable[[int], str]] = {
    "one letter": lambda length: "a" * length,
    "spaces": lambda length: " " * length,
    "lines": lambda length: "\n" * length,
    "returns": lambda length: "\r\n" * (length // 2),
    "digits": lambda length: "7" * length,
    "different digits": lambda length: ("3141592653589793238462643383279" * (length // 31 + 1))[:length],
    "two letters": lambda length: "ab" * (length // 2),
    "letter and space": lambda length: "a " * (length // 2),
    "signs": lambda length: "-" * length,
    "apostrophes": lambda length: "'" * length,
    "contractions": lambda length: "'s" * (length // 2),
    "zero bytes": lambda length: "\0" * length,
    "emoji": lambda length: "😀" * length,
    "marks": lambda length: "e" + MARKS * (length // len(MARKS)),
    "planes": lambda length: (PLANES * (length // len(PLANES) + 1))[:length],
    "no spaces": lambda length: "".join(map(str, range(length // 5)))[:length].translate(
        {48 + digit: 97 + digit for digit in range(10)}
    ),
}


def learned(name: str, text: str, more: int = 100, **settings) -> Tokenizer:
    alphabet = "".join(sorted(set(text)))
    first = 256 if name == "byte_bpe" else len(alphabet)
    tokenizer: Tokenizer = family.build(
        "tokenizer", family.resolve("tokenizer", {"name": name, "vocabulary": first + more, **settings})
    )
    tokenizer.learn([text], alphabet)
    return tokenizer


@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("split", NAMED)
@pytest.mark.parametrize("name", ["bpe", "byte_bpe"])
def test_learning_writing_and_reading_a_hard_text(name: str, split: str, kind: str):
    text = TEXTS[kind](50_000)
    tokenizer = learned(name, text, split=split)
    ids = tokenizer.encode(text)
    tokens = tokenizer.token_bytes()
    assert b"".join([tokens[number] for number in ids]) == text.encode()
    assert tokenizer.decode(ids) == text
    plain = learned(name, text, 0, split=split)
    assert len(ids) <= len(plain.encode(text))


@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("name", sorted({*MEMBERS} - {"bpe", "byte_bpe"}))
def test_other_members_write_and_read_a_hard_text(name: str, kind: str):
    text = TEXTS[kind](5_000)
    tokenizer = learned(name, text)
    if tokenizer.lossless:
        assert tokenizer.decode(tokenizer.encode(text)) == text


@pytest.mark.parametrize("letter", ["a", " ", "\n", "-"])
@pytest.mark.parametrize("name", ["bpe", "byte_bpe"])
def test_a_run_of_a_power_of_two_becomes_a_power_of_two_by_doubling(name: str, letter: str):
    """Every merge of a run joins its two longest tokens: 2, 4, 8, … After k of them 2^20 letters are 2^(20 − k)."""
    text = letter * (1 << 20)
    for number in (0, 1, 7, 20):
        tokenizer = learned(name, text, number, split="classes")
        ids = tokenizer.encode(text)
        assert len(ids) == 1 << (20 - number)
        assert len(set(ids.tolist())) == 1
        assert tokenizer.token_bytes()[ids[0]] == letter.encode() * (1 << number)


@pytest.mark.parametrize("length", [MILLION, MILLION + 1, (1 << 20) - 1])
def test_a_run_of_any_length_becomes_its_binary_digits(length: int):
    """Merged from the left, what is left over stands at the end: the greatest token first."""
    tokenizer = learned("byte_bpe", "a" * (1 << 20), 20)
    tokens = tokenizer.token_bytes()
    found = [len(tokens[number]) for number in tokenizer.encode("a" * length)]
    assert found == [1 << bit for bit in range(20, -1, -1) if length >> bit & 1]


def test_two_letters_in_turn_become_pairs_then_double():
    tokenizer = learned("byte_bpe", "ab" * (MILLION // 2), 20)
    tokens = tokenizer.token_bytes()[256:]
    assert tokens[:4] == [b"ab", b"ab" * 2, b"ab" * 4, b"ab" * 8]
    found = [len(tokenizer.token_bytes()[number]) // 2 for number in tokenizer.encode("ab" * (MILLION // 2))]
    assert sum(found) == MILLION // 2
    assert found == sorted(found, reverse=True)
    assert len(found) <= 20


@pytest.mark.parametrize(
    ("split", "digits", "pieces"),
    [
        ("gpt2", "triples", 33_334),
        ("gpt2", "single", 100_000),
        ("gpt2", "runs", 1),
        ("gpt4", "pattern", 33_334),
    ],
)
def test_a_number_of_a_hundred_thousand_digits(split: str, digits: str, pieces: int):
    number = "7" * 100_000
    tokenizer = learned("byte_bpe", number, 1000, split=split, digits=digits)
    assert len(tokenizer.encode(number)) == pieces
    assert tokenizer.decode(tokenizer.encode(number)) == number


@pytest.mark.parametrize("letter", [" ", "\n", "a", "7"])
@pytest.mark.parametrize("split", NAMED)
def test_a_million_of_the_same_between_words(split: str, letter: str):
    text = f"start {letter * MILLION} end"
    tokenizer = learned("byte_bpe", text, 60, split=split)
    ids = tokenizer.encode(text)
    assert tokenizer.decode(ids) == text
    if not (letter == "7" and split == "gpt4"):  # which goes in threes
        assert len(ids) < 60
    parts = (text[at : at + 5000] for at in range(0, len(text), 5000))
    assert isinstance(tokenizer, ByteBpe)
    assert list(tokenizer.encode_iterable(parts)) == ids.tolist()


def test_every_character_there_is():
    every = "".join(chr(code) for code in range(0x110000) if not 0xD800 <= code <= 0xDFFF)
    tokenizer = learned("byte_bpe", every, 50)
    ids = tokenizer.encode(every)
    assert tokenizer.decode(ids) == every
    lengths = np.array([len(token) for token in tokenizer.token_bytes()])
    assert lengths[ids].sum() == 128 + 2 * 1_920 + 3 * (63_488 - 2_048) + 4 * 16 * 65_536


@pytest.mark.parametrize("name", MEMBERS)
def test_half_a_character_is_named_with_its_place(name: str):
    tokenizer = learned(name, "ab cd\n")
    text: str = json.loads('"ab\\ud83d cd"')
    assert text[2] == "\ud83d"
    with pytest.raises(ValueError, match=r"'\\ud83d' \(U\+D83D\) at 2"):
        tokenizer.encode(text)
    with pytest.raises(ValueError, match=r"'\\ud83d' \(U\+D83D\) at 2"):
        tokenizer.learn(["ab", text], "\n abcd")
    whole: str = json.loads('"\\ud83d\\ude00"')
    assert whole == "😀"
    if name == "byte_bpe":
        assert tokenizer.decode(tokenizer.encode(whole)) == whole


@pytest.mark.parametrize("name", MEMBERS)
def test_nothing_and_one_character(name: str):
    tokenizer = learned(name, "a")
    assert tokenizer.encode("").shape == (0,)
    assert tokenizer.encode("a").tolist() == [tokenizer.tokens().index("a")]
    assert tokenizer.decode(tokenizer.encode("a")) == "a"
    tokenizer.learn(["", "", ""], "ab")
    assert tokenizer.decode(tokenizer.encode("ba")) == "ba"
    tokenizer.learn([], "ab")
    assert tokenizer.decode(tokenizer.encode("ab")) == "ab"


def test_many_documents_of_nothing():
    tokenizer = ByteBpe(vocabulary=260)
    tokenizer.learn(["", "ab"] * 100_000)
    assert tokenizer.merges == [(b"a", b"b")]


@pytest.mark.long
@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("split", ["classes", "gpt2", "gpt4"])
def test_sixteen_times_the_text_takes_nothing_like_the_square(split: str, kind: str):
    """The square would be 256 times as long; linear and n log n are under 20. The least of three, and a margin of 4."""
    seconds = {}
    for length in (1 << 16, 1 << 20):
        text = TEXTS[kind](length)
        learned("byte_bpe", text[:1000], split=split)
        rounds = []
        for _ in range(3):
            begun = time.process_time()
            learned("byte_bpe", text, 200, split=split).encode(text)
            rounds.append(time.process_time() - begun)
        seconds[length] = min(rounds)
    assert seconds[1 << 20] < 80 * max(seconds[1 << 16], 0.01)
