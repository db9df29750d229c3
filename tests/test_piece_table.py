"""The hash table of pieces against a dictionary."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onechange import piece_table
from onechange.piece_table import PieceTable

WORD = 1 << 64


def numbers(table: PieceTable, pieces: list[bytes], before: bytes = b"") -> list[int]:
    """The numbers of ``pieces``, which stand in a text after ``before``."""
    text = np.frombuffer(before + b"".join(pieces), dtype=np.uint8)
    ends = np.cumsum([len(piece) for piece in pieces], dtype=np.int64) + len(before)
    return table.numbers(text, len(before), ends).tolist()


def check(table: PieceTable, known: dict[bytes, int]) -> None:
    assert len(table) == len(known)
    assert table.text.tobytes() == b"".join(known)
    assert table.ends.tolist() == np.cumsum([len(piece) for piece in known]).tolist()
    for piece, number in known.items():
        assert table.piece(number).tobytes() == piece


pieces = st.one_of(
    st.binary(min_size=1, max_size=20),
    st.integers(1, 40).map(bytes),  # zeros: as many as there are
    st.builds(lambda length, last: b"a" * length + last, st.integers(0, 30), st.sampled_from([b"x", b"y"])),
)


@given(st.lists(st.lists(pieces, max_size=30), max_size=4), st.binary(max_size=3))
def test_numbers_are_given_in_the_order_of_first_coming(batches: list[list[bytes]], before: bytes):
    table, known = PieceTable(), dict[bytes, int]()
    for batch in batches:
        expected = [known.setdefault(piece, len(known)) for piece in batch]
        assert numbers(table, batch, before) == expected
    check(table, known)


def test_more_pieces_than_there_is_room_for_at_first():
    table, known = PieceTable(), dict[bytes, int]()
    words = [f"{number * number}" for number in range(70_000)]
    for batch in (words[:10], words[:40_000], words[30_000:], words):
        content = [word.encode() for word in batch]
        assert numbers(table, content) == [known.setdefault(word, len(known)) for word in content]
    check(table, known)


@pytest.mark.parametrize("length", [1 << 16, (1 << 16) + 1, 1 << 18, 1_000_003])
def test_a_piece_longer_than_the_room_for_all_at_first(length: int):
    long = b"ab" * (length // 2) + b"c" * (length % 2)
    almost = long[:-1] + b"z"
    table = PieceTable()
    assert numbers(table, [b"x", long, b"y", almost, long, b"x"]) == [0, 1, 2, 3, 1, 0]
    assert table.piece(1).tobytes() == long


def mixed(word: int) -> int:
    return int(piece_table._mixed(np.uint64(word % WORD)))


def seeded(length: int) -> int:
    """What the hash of a piece of this length begins with."""
    return length * 0x9E3779B97F4A7C15 % WORD


def test_different_pieces_of_the_same_hash_are_told_apart():
    """The mixing of two words can be undone, so that for any first eight bytes others can be found that collide."""
    goal = 0x0123456789ABCDEF
    found = []
    for number in range(50):
        first = f"word{number:04}".encode()
        second = mixed(seeded(16) ^ int.from_bytes(first)) ^ goal
        found.append(first + second.to_bytes(8))
    table = PieceTable()
    assert numbers(table, found + found[::-1]) == [*range(50), *reversed(range(50))]
    assert len(set(table._hashes[:50].tolist())) == 1


def test_a_piece_is_not_a_longer_one_of_the_same_hash_that_begins_with_it():
    short = b"eight by"
    word = int.from_bytes(short)
    rest = mixed(seeded(16) ^ word) ^ seeded(8) ^ word
    table = PieceTable()
    assert numbers(table, [short + rest.to_bytes(8), short]) == [0, 1]
    assert table._hashes[0] == table._hashes[1]
