"""Distinct pieces of text, numbered in the order in which they first came: a hash table of byte strings.

Open addressing with linear probing. The pieces' bytes lie one after the other, so that a piece is found again
without a Python object for it.
"""

import numpy as np
from jaxtyping import Int32, Int64, UInt8

from onechange.compiled import compiled

_PIECES, _BYTES = 1 << 12, 1 << 16


class PieceTable:
    """Grows as it must. For one thread at a time."""

    def __init__(self) -> None:
        self._slots = np.full(2 * _PIECES, -1, dtype=np.int32)
        self._hashes = np.empty(_PIECES, dtype=np.uint64)
        self._starts = np.zeros(_PIECES + 1, dtype=np.int64)
        self._bytes = np.empty(_BYTES, dtype=np.uint8)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def text(self) -> UInt8[np.ndarray, " bytes"]:
        """All pieces, one after the other."""
        return self._bytes[: self._starts[self._count]]

    @property
    def ends(self) -> Int64[np.ndarray, " pieces"]:
        """Where in `text` each piece ends."""
        return self._starts[1 : self._count + 1]

    def piece(self, number: int) -> UInt8[np.ndarray, " bytes"]:
        """The piece with this ``number``."""
        return self._bytes[self._starts[number] : self._starts[number + 1]]

    def numbers(
        self, text: UInt8[np.ndarray, " bytes"], start: int, ends: Int64[np.ndarray, " pieces"]
    ) -> Int32[np.ndarray, " pieces"]:
        """The number of every piece of ``text``: the first begins at ``start``, each at the end of the one before."""
        found = np.empty(len(ends), dtype=np.int32)
        done = 0
        while True:
            done, start, self._count = _number(
                text,
                start,
                ends,
                done,
                found,
                self._slots,
                self._hashes,
                self._starts,
                self._bytes,
                self._count,
            )
            if done == len(ends):
                return found
            self._grow(int(ends[done]) - start)

    def _grow(self, length: int) -> None:
        """Make room for one more piece of ``length`` bytes, and for as much again as there is."""
        count, used = self._count, int(self._starts[self._count])
        if count == len(self._hashes):
            self._hashes = np.concatenate([self._hashes, np.empty_like(self._hashes)])
            self._starts = np.concatenate([self._starts, np.zeros(count, dtype=np.int64)])
            self._slots = np.full(4 * count, -1, dtype=np.int32)
            _place(self._slots, self._hashes[:count])
        if used + length > len(self._bytes):
            larger = np.empty(max(2 * len(self._bytes), used + length), dtype=np.uint8)
            larger[:used] = self._bytes[:used]
            self._bytes = larger


@compiled
def _mixed(word: np.uint64) -> np.uint64:
    word *= np.uint64(0xD6E8FEB86659FD93)
    word ^= word >> np.uint64(32)
    word *= np.uint64(0xD6E8FEB86659FD93)
    return word ^ (word >> np.uint64(29))


# One long loop: a call that hands arrays on would count references for every piece.
@compiled
def _number(
    text: np.ndarray,
    start: int,
    ends: np.ndarray,
    done: int,
    found: np.ndarray,
    slots: np.ndarray,
    hashes: np.ndarray,
    starts: np.ndarray,
    bytes: np.ndarray,
    count: int,
) -> tuple[int, int, int]:
    """Write the numbers of the pieces from number ``done`` on into ``found``, until a new one has no room.

    How many are done then, where the next one starts, and how many distinct pieces there are.
    """
    last = len(slots) - 1
    while done < len(ends):
        end = ends[done]
        length = end - start
        hash = np.uint64(length) * np.uint64(0x9E3779B97F4A7C15)
        word, held = np.uint64(0), 0
        for at in range(start, end):
            word = (word << np.uint64(8)) | np.uint64(text[at])
            held += 1
            if held == 8:
                hash = _mixed(hash ^ word)
                word, held = np.uint64(0), 0
        hash = _mixed(hash ^ word)
        slot = np.int64(hash & np.uint64(last))
        while True:
            piece = slots[slot]
            if piece < 0:
                used = starts[count]
                if count == len(hashes) or used + length > len(bytes):
                    return done, start, count
                for at in range(length):
                    bytes[used + at] = text[start + at]
                slots[slot] = piece = count
                hashes[count] = hash
                count += 1
                starts[count] = used + length
                break
            first = starts[piece]
            if hashes[piece] == hash and starts[piece + 1] - first == length:
                at = 0
                while at < length and bytes[first + at] == text[start + at]:
                    at += 1
                if at == length:
                    break
            slot = (slot + 1) & last
        found[done] = piece
        done += 1
        start = end
    return done, start, count


@compiled
def _place(slots: np.ndarray, hashes: np.ndarray) -> None:
    """Put the numbers of pieces with these ``hashes`` into the empty ``slots``."""
    last = len(slots) - 1
    for piece in range(len(hashes)):
        slot = np.int64(hashes[piece] & np.uint64(last))
        while slots[slot] >= 0:
            slot = (slot + 1) & last
        slots[slot] = piece
