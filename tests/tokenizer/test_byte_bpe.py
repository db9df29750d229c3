"""`byte_bpe`: bytes are merged within GPT-2's pieces; given the merges of GPT-2 and GPT-4 it writes their ids."""

import json
from collections import Counter
from itertools import product
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer as Peer

import edge_texts
import plain_merges
import rank_files
from onechange.pieces import NAMED, Digits, Pieces, Space
from onechange.tokenizer.byte_bpe import ByteBpe

turns = {
    "vocabulary": (290, 280),
    "learn_from": ("training", "all"),
    "split": ("gpt2", "classes"),
    "digits": ("runs", "single"),
    "space": ("pattern", "apart"),
    "special_tokens": (("aaa",), ("there", "cat")),
}
EVERY = list(product(NAMED, get_args(Digits), get_args(Space)))

DOCUMENTS = [
    "don't, don't! I'LL I'll",
    " 12345 1234 123 1234",
    "été  \n\n été\r\n\r\n",
    "a (b) (b) (b",
    "中中 中中。 中中 文中",
    "Ⅷ½ ½ x½ 😀😀 😁 \x00\x00\x00",
]


def learned(documents: list[str] = DOCUMENTS, more: int = 1000, **settings) -> ByteBpe:
    tokenizer = ByteBpe(vocabulary=256 + more + len(settings.get("special_tokens", ())), **settings)
    tokenizer.learn(documents)
    return tokenizer


def counts(documents: list[str], pieces: Pieces) -> Counter[bytes]:
    return Counter(piece.encode() for document in documents for piece in pieces.cut(document))


def written(tokenizer: ByteBpe, text: str) -> list[bytes]:
    tokens = tokenizer.token_bytes()
    return [tokens[number] for number in tokenizer.encode(text)]


def plainly(tokenizer: ByteBpe, pieces: Pieces, text: str) -> list[bytes]:
    return [
        token
        for piece in pieces.cut(text)
        for token in plain_merges.encoded(piece.encode(), tokenizer.merges)
    ]


@pytest.mark.parametrize(("split", "digits", "space"), EVERY)
def test_merges_and_tokens_are_those_of_counting_everything_anew(split: str, digits: Digits, space: Space):
    pieces = Pieces(split, digits, space)
    tokenizer = learned(split=split, digits=digits, space=space)
    assert tokenizer.merges == plain_merges.merges(counts(DOCUMENTS, pieces), 1000)
    for text in (*DOCUMENTS, " don't 54321 éte (b)(b \n x中½ 😂\x00\x00"):
        assert written(tokenizer, text) == plainly(tokenizer, pieces, text)


@given(st.lists(edge_texts.texts, max_size=6), edge_texts.texts)
def test_so_are_those_of_any_text(documents: list[str], text: str):
    pieces = Pieces("gpt2")
    tokenizer = learned(documents, 60)
    assert tokenizer.merges == plain_merges.merges(counts(documents, pieces), 60)
    assert written(tokenizer, text) == plainly(tokenizer, pieces, text)


def test_a_pattern_of_one_s_own():
    tokenizer = learned(["ab-ab-ab ab"], split=r"[a-z]-?")
    assert tokenizer.merges == [(b"b", b"-")]


def test_ids_are_the_bytes_then_the_merges_then_the_special_tokens():
    tokenizer = learned(["abab cc"], 3, special_tokens=("<|end|>", "<|begin|>"))
    tokens = tokenizer.token_bytes()
    assert tokens[:256] == [bytes([value]) for value in range(256)]
    assert tokens[256:] == [b"ab", b"cc", b"abab", b"<|end|>", b"<|begin|>"]
    assert tokenizer.encode("<|begin|>ab<|end|>").tolist() == [260, 256, 259]
    assert tokenizer.decode([260, 256, 259]) == "<|begin|>ab<|end|>"


def test_ties_go_to_the_greatest_pair_of_bytes():
    """Signs from 0x80 on come after letters, and a shorter token before one that begins with it."""
    assert learned(["ab", "éx", "zz"], 1).merges == [(b"\xc3", b"\xa9")]
    assert learned(["ab", "az", "zb"], 3).merges == [(b"z", b"b"), (b"a", b"z"), (b"a", b"b")]


def test_special_tokens_are_neither_learned_from_nor_merged_across():
    end = "<|endoftext|>"
    tokenizer = learned([f"ab{end}ba{end}{end}ab"] * 50, special_tokens=(end,))
    assert tokenizer.token_bytes()[256:] == [b"ab", b"ba", end.encode()]
    assert written(tokenizer, f"ab{end}ba<|endoftext") == [
        b"ab", end.encode(), b"ba", *(bytes([value]) for value in b"<|endoftext")
    ]  # fmt: skip


def test_a_piece_ends_before_a_special_token_as_at_the_end_of_a_text():
    tokenizer = learned(["a  b " * 9], special_tokens=("<x>",))
    assert written(tokenizer, "a  <x>  b") == [
        b"a",
        *written(tokenizer, "  "),
        b"<x>",
        *written(tokenizer, "  b"),
    ]


def test_a_vocabulary_that_cannot_be_reached_ends_early_and_says_so():
    tokenizer = learned(["abc"], 100, special_tokens=("<x>",))
    assert tokenizer.vocabulary_size == 259
    assert tokenizer.remarks()[0].startswith("the vocabulary ends at 259 of 357 tokens")
    assert tokenizer.encode("abc<x>").tolist() == [257, 258]


@pytest.mark.parametrize(
    ("settings", "wrong"),
    [
        ({"vocabulary": 255}, r"vocabulary = 255: must be at least 256: 256 bytes"),
        ({"vocabulary": 257, "special_tokens": ("ab", "cd")}, r"must be at least 258: 256 bytes and 2 special"),
        ({"vocabulary": 300, "special_tokens": ("ab", "ab")}, r"special_tokens: 'ab' stands there more than once"),
        ({"learn_from": "validation"}, r"learn_from = 'validation'"),
        ({"space": "left"}, r"space = 'left'"),
    ],
)  # fmt: skip
def test_a_wrong_setting_is_named_with_its_value(settings: dict, wrong: str):
    with pytest.raises(ValueError, match=wrong):
        ByteBpe(**settings)


def test_more_pieces_than_are_remembered_change_nothing():
    tokenizer = learned()
    assert tokenizer._encoding is not None
    small = tokenizer._encoding.remembering(100)
    for text in [f"a{number} don't (b" for number in range(40)] * 2:
        assert small.encode([text.encode()]).tolist() == tokenizer.encode(text).tolist()
        assert len(small._table.text) <= 100 + len(text)


@given(edge_texts.texts)
def test_the_saved_file_is_read_the_same_by_the_tokenizers_library(text: str):
    assert THEIRS.encode(text).ids == OURS.encode(text).tolist()
    assert THEIRS.decode(OURS.encode(text).tolist(), skip_special_tokens=False) == text


OURS = learned(split="gpt4", special_tokens=("<|end|>", "'s"))
THEIRS = Peer.from_str(json.dumps(OURS.to_json()))


@pytest.mark.parametrize(
    ("tokens", "merges", "special", "wrong"),
    [
        ({257: b"ab"}, [(b"a", b"b")], [], r"the ids must be 0 to 256, each once"),
        ({256: b"ab"}, [(b"a", b"bc")], [], r"no token 'bc' comes before it"),
        ({256: b"abc"}, [(b"ab", b"c")], [], r"no token 'ab' comes before it"),
        ({256: b"ab"}, [(b"a", b"b"), (b"a", b"b")], [], r"merge 1 makes 'ab', which is a token already"),
        ({256: b"ab"}, [(b"a", b"c")], [], r"merge 0 makes 'ac', which has no id"),
        ({256: b"a"}, [], [], r"'a' is a token already"),
        ({97: b"xx"}, [], [], r"the byte 0x61 has no id"),
    ],
)
def test_what_was_learned_elsewhere_must_fit_together(
    tokens: dict[int, bytes], merges: list[tuple[bytes, bytes]], special: list[str], wrong: str
):
    every = {value: bytes([value]) for value in range(256)} | tokens
    with pytest.raises(ValueError, match=wrong):
        ByteBpe.of(every, merges, special_tokens=special)


def test_ids_learned_elsewhere_are_kept():
    """Bytes in another order, a merge before them, a special token among them and one that has no id yet."""
    tokens = {0: b"ab", 1: b"<x>", **{2 + value: bytes([255 - value]) for value in range(256)}}
    tokenizer = ByteBpe.of(tokens, [(b"a", b"b")], special_tokens=["<x>", "<y>"])
    assert tokenizer.encode("ab<y>c<x>").tolist() == [0, 258, 2 + 255 - 99, 1]
    assert tokenizer.decode([0, 258, 2 + 255 - 99, 1]) == "ab<y>c<x>"


any_text = st.one_of(edge_texts.texts, st.text(), st.text("ab the.'\n 1", max_size=80))


def test_gpt2_token_for_token():
    ours, theirs = rank_files.gpt2().ours("gpt2"), rank_files.gpt2().theirs
    assert ours.vocabulary_size == 50257

    @given(any_text)
    def same(text: str) -> None:
        assert ours.encode(text).tolist() == theirs.encode(text, allowed_special="all")

    same()
    for story in STORIES:
        assert ours.encode(story).tolist() == theirs.encode(story, allowed_special="all")


def test_cl100k_token_for_token():
    ours, theirs = rank_files.cl100k().ours("gpt4"), rank_files.cl100k().theirs
    assert ours.vocabulary_size == 100_256

    @given(any_text)
    def same(text: str) -> None:
        assert ours.encode(text).tolist() == theirs.encode_ordinary(text)

    same()
    for story in STORIES:
        assert ours.encode(story).tolist() == theirs.encode_ordinary(story)


STORIES = [
    'Once upon a time, in a land far away, there lived a little girl who\'d never seen the sea.\n\n"Mum," she said…',
    "def f(x):\n    return [y**2 for y in range(x)]  # squares\n\n\tif True:\r\n\t\tpass\n",
    "https://example.org/a/b?c=1&d=2#e — 3.14159, 1,000,000 and 0xDEADBEEF; ½ cup, Ⅷ, x²",
    "Über den Fluß, größer als Äpfel. ¿Qué? Ça va! Zażółć gęślą jaźń. Ελληνικά, русский, עברית, العربية, हिन्दी",
    "今天天气很好。日本語のテキスト、한국어 텍스트도 있다. 👩‍👩‍👧🏽🇩🇪😀😀😀",
    " " * 300 + "x" + "\n" * 300 + "-" * 300 + "a" * 300,
    "<|endoftext|><|endoftext|>",
]


def test_ids_are_in_one_array_of_int32():
    for text in ("", "a", "<x>", "a<x>b"):
        ids = learned(["ab"], 2, special_tokens=("<x>",)).encode(text)
        assert (ids.dtype, ids.ndim) == (np.dtype(np.int32), 1)
