"""Text that comes in parts gives the ids of the whole, soon and in little memory."""

import tracemalloc
from collections.abc import Iterator
from itertools import product
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import edge_texts
from onechange import stream_encoding
from onechange.pieces import NAMED, Digits, Pieces, Space
from onechange.special_tokens import SpecialTokens
from onechange.tokenizer.byte_bpe import ByteBpe

SPECIAL = ("<|end|>", "<|end|><|end|>", "<|e", "<<", "'s'", "  \n", "1a", "’–")
"""Some begin alike, one is two of another, some are like what a pattern cuts."""
pieces = st.one_of(edge_texts.pieces, st.sampled_from([*SPECIAL, "<|end", "|>", "<|end|"]))
EVERY = list(product(NAMED, get_args(Digits), get_args(Space)))


def parted(text: str, sizes: list[int]) -> list[str]:
    parts, at = [], 0
    for size in sizes:
        parts.append(text[at : at + size])
        at += size
    return [*parts, text[at:]]


def learned(split: str = "gpt2", special: tuple[str, ...] = (), **settings) -> ByteBpe:
    tokenizer = ByteBpe(vocabulary=300 + len(special), split=split, special_tokens=special, **settings)
    tokenizer.learn(["the cat can't sit there, 'tis 1234 cats' mat \n\n the " + edge_texts.CHARACTERS] * 3)
    return tokenizer


@pytest.mark.parametrize(("split", "digits", "space"), EVERY)
@settings(max_examples=50)
@given(
    some=st.lists(pieces, max_size=40).map("".join),
    sizes=st.lists(st.integers(0, 9), max_size=60),
    special=st.lists(st.sampled_from(SPECIAL), unique=True, max_size=4),
)
def test_settled_parts_have_the_pieces_of_the_whole(
    split: str, digits: Digits, space: Space, some: str, sizes: list[int], special: list[str]
):
    cut, tokens = Pieces(split, digits, space), SpecialTokens(special)

    def found(texts: list[str]) -> list[str]:
        return [
            piece
            for text in texts
            for number, part in enumerate(tokens.parts(text))
            for piece in ([part] if number % 2 else cut.cut(part))
        ]

    parts = list(stream_encoding.settled(parted(some, sizes), cut, tokens))
    assert "".join(parts) == some
    assert found(parts) == found([some])


@pytest.mark.parametrize("special", [(), SPECIAL])
@pytest.mark.parametrize("split", [*NAMED, r"\w+|.*(?=!)"])
def test_ids_of_parts_are_those_of_the_whole(split: str, special: tuple[str, ...]):
    tokenizer = learned(split, special)

    @given(st.lists(pieces, max_size=40).map("".join), st.lists(st.integers(0, 9), max_size=60))
    def same(text: str, sizes: list[int]) -> None:
        assert list(tokenizer.encode_iterable(parted(text, sizes))) == tokenizer.encode(text).tolist()

    same()


@given(st.text("ab! ", max_size=30), st.lists(st.integers(0, 5), max_size=20))
def test_a_pattern_of_one_s_own_may_look_ahead_to_the_end(text: str, sizes: list[int]):
    """An exclamation mark far behind decides whether the letters are cut one by one."""
    cut, none = Pieces(r"[ab](?=.*!)|[ab]+"), SpecialTokens([])
    parts = list(stream_encoding.settled(parted(text, sizes), cut, none))
    assert [piece for part in parts for piece in cut.cut(part)] == cut.cut(text)


def test_without_special_tokens_nothing_is_one():
    tokenizer = learned()
    assert tokenizer.decode(list(tokenizer.encode_iterable(["<|en", "d|>"]))) == "<|end|>"
    assert len(tokenizer.encode("<|end|>")) > 1


def test_special_tokens_that_begin_alike_wait_for_the_longer():
    tokenizer = learned(special=SPECIAL)
    ids = {text: tokenizer.token_bytes().index(text.encode()) for text in SPECIAL}
    both, one = ids["<|end|><|end|>"], ids["<|end|>"]
    assert list(tokenizer.encode_iterable("<|end|><|end|><|end|>")) == [both, one]
    assert list(tokenizer.encode_iterable(["<|end|><|e", "nd|", ">"])) == [both]
    assert list(tokenizer.encode_iterable(["<|end|><|e", "nd"])) == [one, ids["<|e"], *b"nd"]


def test_ids_come_as_soon_as_nothing_can_change_them():
    """After each line all but its end is out."""
    tokenizer, read = learned(), 0

    def lines() -> Iterator[str]:
        nonlocal read
        for _ in range(100):
            read += 1
            yield "the cat can't sit there\n"

    given = 0
    for number in tokenizer.encode_iterable(lines()):
        given += len(tokenizer.token_bytes()[number])
        assert given > (read - 2) * 24
    assert given == 2400


@pytest.mark.parametrize("split", NAMED)
@pytest.mark.parametrize("letter", ["a", " ", "\n", "7", "-", "中", "\u0301", "😀"])
def test_a_piece_without_end_is_looked_at_a_few_times_in_all(
    split: str, letter: str, monkeypatch: pytest.MonkeyPatch
):
    looked_at, length = 0, 20_000
    whole = stream_encoding._settled

    def counted(text: str, *others) -> int:
        nonlocal looked_at
        looked_at += len(text)
        return whole(text, *others)

    monkeypatch.setattr(stream_encoding, "_settled", counted)
    parts = list(stream_encoding.settled(iter(letter * length), Pieces(split), SpecialTokens(["<|end|>"])))
    assert "".join(parts) == letter * length
    assert (
        looked_at < 20 * length
    )  # every letter within the few that a special token may still begin at, and doubled


def test_a_text_read_by_lines_takes_less_than_a_megabyte():
    words = [f"{word * 9} {number}" for number in range(1000) for word in ("cats", "sitting", "там", "中文")]
    lines = [" ".join(words[at : at + 9]) + "\n" for at in range(0, len(words), 9)] + ["<|endoftext|>\n"]
    tokenizer = ByteBpe(vocabulary=3000, special_tokens=("<|endoftext|>",))
    tokenizer.learn(lines)
    size = sum(map(len, lines))
    list(tokenizer.encode_iterable(lines))  # compiled
    number = 0
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for _ in tokenizer.encode_iterable(line for _ in range(5_000_000 // size + 1) for line in lines):
            number += 1
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert number > 200_000
    assert peak - before < 1_000_000
