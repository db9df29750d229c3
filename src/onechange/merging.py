"""Merges done on pieces of text, in the order in which they were learned.

A piece of n symbols takes O(n log n): the merges that are possible in it wait in a heap.
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from jaxtyping import Int32, Int64

from onechange.compiled import compiled
from onechange.merges import NOTHING


class Merging:
    """The merges: ``pairs`` are the ids of left and right token, ``made`` the id that each pair becomes."""

    def __init__(self, pairs: Sequence[tuple[int, int]], made: Sequence[int]) -> None:
        lefts, rights = np.array(pairs, dtype=np.uint64).reshape(-1, 2).T
        self._keys = (lefts << np.uint64(32)) | rights
        self._made = np.array(made, dtype=np.int32)

    @cached_property
    def _slots(self) -> np.ndarray:
        """Where each merge is found by its pair; made when it is first needed: who only learns compiles nothing."""
        slots = np.full(1 << max(4, (2 * len(self._keys)).bit_length()), -1, dtype=np.int32)
        _place(slots, self._keys)
        return slots

    def apply(
        self, ids: Int32[np.ndarray, " symbols"], ends: Int64[np.ndarray, " pieces"]
    ) -> tuple[Int32[np.ndarray, " tokens"], Int64[np.ndarray, " pieces"]]:
        """The tokens of pieces of symbols that end at ``ends``, and where among the tokens each piece ends."""
        tokens, token_ends = np.empty_like(ids), np.empty_like(ends)
        number = _apply(ids, ends, self._slots, self._keys, self._made, tokens, token_ends)
        return tokens[:number], token_ends


# `onechange.merges` has the same: a compiled function calls none of another file, see `onechange.compiled`.
@compiled
def _slot(slots: np.ndarray, keys: np.ndarray, key: np.uint64) -> int:
    last = len(slots) - 1
    mixed = key * np.uint64(0x9E3779B97F4A7C15)
    slot = np.int64((mixed ^ (mixed >> np.uint64(32))) & np.uint64(last))
    while slots[slot] >= 0 and keys[slots[slot]] != key:
        slot = (slot + 1) & last
    return int(slot)


@compiled
def _place(slots: np.ndarray, keys: np.ndarray) -> None:
    for number in range(len(keys)):
        slots[_slot(slots, keys, keys[number])] = number


@compiled
def _rank(slots: np.ndarray, keys: np.ndarray, left: int, right: int) -> int:
    """The number of the merge of two tokens; −1 where there is none."""
    if left == NOTHING or right == NOTHING:
        return -1
    return int(slots[_slot(slots, keys, (np.uint64(left) << np.uint64(32)) | np.uint64(right))])


@compiled
def _pushed(heap: np.ndarray, size: int, rank: int, place: int) -> int:
    """The size of the heap of (rank, place), the smallest on top, with one more in it."""
    item = (np.uint64(rank) << np.uint64(32)) | np.uint64(place)
    at = size
    while at > 0 and item < heap[(at - 1) >> 1]:
        heap[at] = heap[(at - 1) >> 1]
        at = (at - 1) >> 1
    heap[at] = item
    return size + 1


@compiled
def _popped(heap: np.ndarray, size: int) -> int:
    """The size of the heap without what was on top."""
    size -= 1
    item, at = heap[size], 0
    while 2 * at + 1 < size:
        below = 2 * at + 1
        if below + 1 < size and heap[below + 1] < heap[below]:
            below += 1
        if item <= heap[below]:
            break
        heap[at] = heap[below]
        at = below
    heap[at] = item
    return size


@compiled
def _apply(
    ids: np.ndarray,
    ends: np.ndarray,
    slots: np.ndarray,
    keys: np.ndarray,
    made: np.ndarray,
    tokens: np.ndarray,
    token_ends: np.ndarray,
) -> int:
    """Write the tokens of all pieces and their ends; how many tokens there are."""
    longest, start = 0, 0
    for end in ends:
        longest = max(longest, end - start)
        start = end
    row = np.empty(longest + 2, np.int32)  # the piece, with `NOTHING` around it
    before = np.empty(longest + 2, np.int64)
    after = np.empty(longest + 2, np.int64)
    heap = np.empty(3 * longest + 1, np.uint64)
    number, start = 0, 0
    for piece in range(len(ends)):
        length = ends[piece] - start
        row[0] = row[length + 1] = NOTHING
        size = 0
        for at in range(1, length + 1):
            row[at] = ids[start + at - 1]
            before[at], after[at] = at - 1, at + 1
        for at in range(1, length):
            rank = _rank(slots, keys, row[at], row[at + 1])
            if rank >= 0:
                size = _pushed(heap, size, rank, at)
        while size > 0:
            rank = np.int64(heap[0] >> np.uint64(32))
            at = np.int64(heap[0] & np.uint64(0xFFFFFFFF))
            size = _popped(heap, size)
            if row[at] == NOTHING:
                continue
            swallowed = after[at]
            if _rank(slots, keys, row[at], row[swallowed]) != rank:
                continue
            previous, following = before[at], after[swallowed]
            row[at] = made[rank]
            row[swallowed] = NOTHING
            after[at] = following
            before[following] = at
            rank = _rank(slots, keys, row[previous], row[at])
            if rank >= 0:
                size = _pushed(heap, size, rank, previous)
            rank = _rank(slots, keys, row[at], row[following])
            if rank >= 0:
                size = _pushed(heap, size, rank, at)
        at = 1
        while at <= length:
            tokens[number] = row[at]
            number += 1
            at = after[at]
        token_ends[piece] = number
        start = ends[piece]
    return number
