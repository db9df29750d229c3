"""The plain learner for small texts finds what the compiled one finds, and gives way where it would cut otherwise."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import edge_texts
from onechange import counting, merges, pair_encoding, small_merges
from onechange.alphabet import Alphabet
from onechange.pieces import NAMED, Pieces
from onechange.symbols import Bytes, Characters, Symbols

NEWER = "\u0558"
"""No character in Unicode 16; in the `regex` that the constraints name, a letter of a later Unicode."""


def compiled(documents: list[bytes], pieces: Pieces) -> Counter[str]:
    found = counting.count(documents, pieces, threads=1)
    content = found.table.text.tobytes()
    spans = pairwise([0, *found.table.ends.tolist()])
    return Counter(
        {
            content[start:end].decode(): int(times)
            for (start, end), times in zip(spans, found.times, strict=True)
        }
    )


@given(documents=st.lists(edge_texts.texts, max_size=6), split=st.sampled_from([*NAMED, r"\p{L}+| ?\d"]))
def test_pieces_are_counted_as_by_the_loops(documents: list[str], split: str):
    contents, pieces = [document.encode() for document in documents], Pieces(split)
    found = small_merges.count(contents, pieces)
    assert found is not None
    assert found == compiled(contents, pieces)


@pytest.mark.parametrize("symbols", ["bytes", "characters"])
@given(data=st.data())
def test_merges_are_those_of_the_loops(symbols: str, data: st.DataObject):
    letters = data.draw(st.sampled_from(["a", "ab", "aé", "abc", "a中😀"]))
    pieces = Counter(data.draw(st.lists(st.text(letters, min_size=1, max_size=30), min_size=1, max_size=12)))
    number = data.draw(st.integers(0, 40))
    alphabet = "".join(sorted(set("".join(pieces))))
    made: Symbols = Bytes() if symbols == "bytes" else Characters(Alphabet(alphabet))
    text, ends, times = small_merges.joined(pieces)
    row = merges.laid_out(*made.ids(text, ends), times)
    assert small_merges.learn(row, made.tokens, number) == merges.learn(row, made.tokens, number)


def test_tokens_that_grow_too_long_end_it_where_the_loops_end(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(merges, "MOST_BYTES", 256 + 2 + 4 + 8)
    text, ends, times = small_merges.joined(Counter({"a" * 64: 1}))
    row = merges.laid_out(*Bytes().ids(text, ends), times)
    assert small_merges.learn(row, Bytes().tokens, 10) == [(97, 97), (256, 256), (257, 257)]


def test_a_character_of_another_class_elsewhere_is_left_to_the_loops():
    assert small_merges.count([f"a{NEWER}b".encode()], Pieces("classes")) is None
    found = pair_encoding.learn([f"ab{NEWER}ab".encode()] * 2, Bytes(), Pieces("classes"), 5)
    assert found == [(b"a", b"b"), (b"\xd5", b"\x98")]  # a piece of its own, no letter between letters


def test_a_text_is_small_up_to_its_limit(monkeypatch: pytest.MonkeyPatch):
    learners: list[str] = []
    monkeypatch.setattr(small_merges, "MOST_TEXT", 6)
    for name, module in (("plain", small_merges), ("compiled", merges)):
        learn = module.learn
        monkeypatch.setattr(
            module, "learn", lambda *given, name=name, learn=learn: learners.append(name) or learn(*given)
        )
    read = iter([b"abab", b"ab", b"a", b"cd"])
    assert pair_encoding.learn([b"abab", b"ab"], Bytes(), Pieces("gpt2"), 1) == [(b"a", b"b")]
    assert (
        pair_encoding.learn(read, Bytes(), Pieces("gpt2"), 9)[-1] == (b"c", b"d") or next(read, None) is None
    )
    assert learners == ["plain", "compiled"]
    assert next(read, None) is None


def test_places_of_unknown_characters_are_those_in_a_piece():
    with pytest.raises(ValueError, match=r"'c' \(U\+0063\) at 2"):
        pair_encoding.learn([b"ab abc"], Characters(Alphabet(" ab")), Pieces("classes"), 3)
    assert np.array_equal(small_merges.joined(Counter(["é", "é", "ab"]))[2], [2, 1])
