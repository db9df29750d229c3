"""Merges: the most frequent pair of neighbouring tokens becomes one token, again and again.

The learner follows Gage (1994) and Sennrich, Haddow and Birch (2016, https://arxiv.org/abs/1508.07909), but
counts anew only where a merge happened. Two facts keep it short:

- All places where a pair of tokens stands arise in one step, the one that made the later token of the two;
  afterwards merges can only take places away. A count that waits in the heap is therefore never too small: if
  the pair on top has lost places since, it is put back with what is left of it, else it is the most frequent.
- A step goes through the text from left to right, so the places of every pair that it makes are noted in that
  order. That order decides which neighbours merge in a run such as ``aaa``.

It also follows that no two merges make the same text: what is merged within a token's stretch of text depends
on that text alone, since nothing was ever merged across its ends.

All work is on distinct pieces, so time and memory grow with what is different in a text: O(n log n) for n
characters or bytes of distinct pieces.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Int32, Int64

from onechange.compiled import compiled

NOTHING = -1
"""The id that stands between two pieces and where a token was swallowed by the one before it."""

MOST_BYTES = 1 << 26
"""Of all tokens together: every merge can double a token's length, so a short text could fill any memory."""


class Row(NamedTuple):
    """Pieces as rows of ids, one after the other."""

    ids: Int32[np.ndarray, " places"]
    """`NOTHING` before the first piece and after every piece."""
    piece: Int32[np.ndarray, " places"]
    """The number of the piece at each place."""
    times: Int64[np.ndarray, " pieces"]
    """How often each piece occurs."""


def laid_out(
    ids: Int32[np.ndarray, " ids"], ends: Int64[np.ndarray, " pieces"], times: Int64[np.ndarray, " pieces"]
) -> Row:
    """The pieces that end at ``ends`` in ``ids``; those of one id have nothing to merge and are left out."""
    lengths = np.diff(ends, prepend=0)
    longer = lengths > 1
    kept = np.repeat(longer, lengths)
    lengths, times = lengths[longer], times[longer]
    row = np.full(int(lengths.sum()) + len(lengths) + 1, NOTHING, dtype=np.int32)
    piece = np.zeros(len(row), dtype=np.int32)
    piece[1:] = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths + 1)
    held = np.ones(len(row), dtype=bool)
    held[0] = False
    held[np.cumsum(lengths + 1)] = False
    row[held] = ids[kept]
    return Row(row, piece, times)


def learn(row: Row, tokens: Sequence[bytes], number: int) -> list[tuple[int, int]]:
    """At most ``number`` merges, in order, each as the ids of its left and its right token.

    ``tokens``: the text of the ids in ``row``, all different; merges get the ids after them. Among equally frequent
    pairs the lexicographically greatest is merged, left token first, then right, compared by bytes (in UTF-8 that is
    the order of code points). Fewer merges come back when every piece has become one token, or when the tokens
    together would have more than `MOST_BYTES`.
    """
    places = len(row.ids)
    index = np.int32 if 3 * places < 1 << 31 else np.int64
    starts = np.zeros(len(tokens) + 1, dtype=np.int64)
    np.cumsum([len(token) for token in tokens], out=starts[1:])
    found = _learn(
        row.ids.copy(),
        row.piece,
        row.times,
        np.arange(-1, places - 1, dtype=index),
        np.arange(1, places + 1, dtype=index),
        np.frombuffer(b"".join(tokens), dtype=np.uint8),
        starts,
        max(0, number),
    )
    return [(left, right) for left, right in found.tolist()]


@compiled
def _slot(slots: np.ndarray, keys: np.ndarray, key: np.uint64) -> int:
    """The slot of the pair ``key``: its own, or the free one for it."""
    last = len(slots) - 1
    mixed = key * np.uint64(0x9E3779B97F4A7C15)
    slot = np.int64((mixed ^ (mixed >> np.uint64(32))) & np.uint64(last))
    while slots[slot] >= 0 and keys[slots[slot]] != key:
        slot = (slot + 1) & last
    return int(slot)


@compiled
def _longer(array: np.ndarray) -> np.ndarray:
    """The same with twice the room."""
    larger = np.empty(2 * len(array), array.dtype)
    for at in range(len(array)):  # a slice would take seconds more to compile
        larger[at] = array[at]
    return larger


@compiled
def _order(left: int, right: int, prefixes: np.ndarray, starts: np.ndarray, text: np.ndarray) -> int:
    """Above 0 if the token ``left`` comes after ``right`` by its bytes, below 0 if before."""
    if prefixes[left] != prefixes[right]:
        return 1 if prefixes[left] > prefixes[right] else -1
    one, other = starts[left], starts[right]
    lengths = starts[left + 1] - one, starts[right + 1] - other
    for at in range(8, min(lengths)):
        if text[one + at] != text[other + at]:
            return 1 if text[one + at] > text[other + at] else -1
    return lengths[0] - lengths[1]


@compiled
def _first(
    count: int,
    key: np.uint64,
    other_count: int,
    other: np.uint64,
    prefixes: np.ndarray,
    starts: np.ndarray,
    text: np.ndarray,
) -> bool:
    """Whether the pair ``key`` is to be merged before the pair ``other``."""
    if count != other_count:
        return count > other_count
    left, other_left = np.int64(key >> np.uint64(32)), np.int64(other >> np.uint64(32))
    if left != other_left:
        return _order(left, other_left, prefixes, starts, text) > 0
    right, other_right = np.int64(key & np.uint64(0xFFFFFFFF)), np.int64(other & np.uint64(0xFFFFFFFF))
    return right != other_right and _order(right, other_right, prefixes, starts, text) > 0


@compiled
def _rise(
    heap: np.ndarray,
    noted: np.ndarray,
    at: int,
    keys: np.ndarray,
    prefixes: np.ndarray,
    starts: np.ndarray,
    text: np.ndarray,
) -> None:
    """Move the pair at ``at`` towards the top of the heap, as far as it belongs there."""
    pair, count = heap[at], noted[at]
    while at > 0:
        above = (at - 1) >> 1
        if not _first(count, keys[pair], noted[above], keys[heap[above]], prefixes, starts, text):
            break
        heap[at], noted[at] = heap[above], noted[above]
        at = above
    heap[at], noted[at] = pair, count


@compiled
def _sink(
    heap: np.ndarray,
    noted: np.ndarray,
    at: int,
    size: int,
    keys: np.ndarray,
    prefixes: np.ndarray,
    starts: np.ndarray,
    text: np.ndarray,
) -> None:
    """Move the pair at ``at`` away from the top of the heap of ``size`` pairs, as far as it belongs there."""
    pair, count = heap[at], noted[at]
    while True:
        below = 2 * at + 1
        if below >= size:
            break
        beside = below + 1
        if beside < size and _first(
            noted[beside], keys[heap[beside]], noted[below], keys[heap[below]], prefixes, starts, text
        ):
            below = beside
        if not _first(noted[below], keys[heap[below]], count, keys[pair], prefixes, starts, text):
            break
        heap[at], noted[at] = heap[below], noted[below]
        at = below
    heap[at], noted[at] = pair, count


@compiled
def _prefix(text: np.ndarray, start: int, end: int) -> np.uint64:
    """The first eight bytes as one number, zeros after the end: what is greater as a number comes later."""
    found = np.uint64(0)
    for at in range(8):
        found = found << np.uint64(8)
        if start + at < end:
            found |= np.uint64(text[start + at])
    return found


@compiled
def _learn(
    ids: np.ndarray,
    piece: np.ndarray,
    times: np.ndarray,
    before: np.ndarray,
    after: np.ndarray,
    token_text: np.ndarray,
    token_starts: np.ndarray,
    number: int,
) -> np.ndarray:
    """The merges: left and right ids, int32, [merges, 2]."""
    tokens = len(token_starts) - 1
    starts = np.empty(tokens + number + 1, np.int64)
    for at in range(tokens + 1):
        starts[at] = token_starts[at]
    text = np.empty(max(1024, 2 * len(token_text)), np.uint8)
    for at in range(len(token_text)):
        text[at] = token_text[at]
    prefixes = np.empty(tokens + number, np.uint64)
    for token in range(tokens):
        prefixes[token] = _prefix(text, starts[token], starts[token + 1])

    # Pairs: their ids as one number, how often they stand side by side, and a list of the places where they do.
    slots = np.full(1 << 13, -1, np.int32)
    keys = np.empty(1 << 12, np.uint64)
    counts = np.empty(1 << 12, np.int64)
    heads = np.empty(1 << 12, before.dtype)
    tails = np.empty(1 << 12, before.dtype)
    pairs = 0
    # The lists: places, and the next entry of the same list. Entries that are used up are used again.
    places = np.empty(max(16, len(ids)), before.dtype)
    following_entry = np.empty(len(places), before.dtype)
    entries, free = 0, -1
    heap = np.empty(1 << 12, np.int32)
    noted = np.empty(1 << 12, np.int64)
    size = 0
    merges = np.empty((number, 2), np.int32)
    made = np.empty(1 << 12, np.int32)
    step = 0
    place = 0
    # Step 0 takes up the pairs of the text; every later one merges the pair on top of the heap.
    entry = -1
    left = right = new = -1
    while True:
        fresh = 0
        while True:
            # What joins the pairs at this place: one pair of the text, or the two around a new token.
            if step == 0:
                if place + 1 >= len(ids):
                    break
                weight = times[piece[place]]
                rounds = 1 if ids[place] != NOTHING and ids[place + 1] != NOTHING else 0
                first, second, at = ids[place], ids[place + 1], place
                place += 1
                previous = following = 0
            else:
                if entry < 0:
                    break
                at = places[entry]
                used = entry
                entry = following_entry[entry]
                following_entry[used] = free
                free = used
                swallowed = after[at]
                if ids[at] != left or ids[swallowed] != right:
                    continue
                weight = times[piece[at]]
                previous, following = before[at], after[swallowed]
                ids[at] = new
                ids[swallowed] = NOTHING
                after[at] = following
                before[following] = at
                rounds = 2
                first, second = ids[previous], new
            for turn in range(rounds):
                where = at
                if step > 0:
                    if turn == 0:
                        if ids[previous] == NOTHING:
                            continue
                        where = previous
                        lost = (np.uint64(ids[previous]) << np.uint64(32)) | np.uint64(left)
                    else:
                        if ids[following] == NOTHING:
                            continue
                        first, second = new, ids[following]
                        lost = (np.uint64(right) << np.uint64(32)) | np.uint64(ids[following])
                    slot = slots[_slot(slots, keys, lost)]
                    if slot >= 0:
                        counts[slot] -= weight
                key = (np.uint64(first) << np.uint64(32)) | np.uint64(second)
                slot = _slot(slots, keys, key)
                pair = slots[slot]
                if pair < 0:
                    if pairs == len(keys):
                        keys, counts = _longer(keys), _longer(counts)
                        heads, tails = _longer(heads), _longer(tails)
                        slots = np.full(2 * len(slots), -1, np.int32)
                        for held in range(pairs):
                            slots[_slot(slots, keys, keys[held])] = held
                        slot = _slot(slots, keys, key)
                    pair = pairs
                    slots[slot] = pair
                    keys[pair] = key
                    counts[pair] = 0
                    heads[pair] = tails[pair] = -1
                    pairs += 1
                    if fresh == len(made):
                        made = _longer(made)
                    made[fresh] = pair
                    fresh += 1
                counts[pair] += weight
                if free >= 0:
                    added = free
                    free = following_entry[free]
                else:
                    if entries == len(places):
                        places, following_entry = _longer(places), _longer(following_entry)
                    added = entries
                    entries += 1
                places[added] = where
                following_entry[added] = -1
                if heads[pair] < 0:
                    heads[pair] = added
                else:
                    following_entry[tails[pair]] = added
                tails[pair] = added
        for item in range(fresh):
            pair = made[item]
            if counts[pair] > 0:
                if size == len(heap):
                    heap, noted = _longer(heap), _longer(noted)
                heap[size], noted[size] = pair, counts[pair]
                size += 1
                _rise(heap, noted, size - 1, keys, prefixes, starts, text)
        # The pair to merge next: the first that has lost no place since it was noted.
        while size > 0:
            count = counts[heap[0]]
            if count == noted[0]:
                break
            if count > 0:
                noted[0] = count
            else:
                size -= 1
                heap[0], noted[0] = heap[size], noted[size]
            _sink(heap, noted, 0, size, keys, prefixes, starts, text)
        if size == 0 or step == number:
            break
        pair = heap[0]
        size -= 1
        heap[0], noted[0] = heap[size], noted[size]
        _sink(heap, noted, 0, size, keys, prefixes, starts, text)
        left = np.int64(keys[pair] >> np.uint64(32))
        right = np.int64(keys[pair] & np.uint64(0xFFFFFFFF))
        new = tokens + step
        length = starts[left + 1] - starts[left]
        total = starts[new] + length + starts[right + 1] - starts[right]
        if total > MOST_BYTES:
            break
        while total > len(text):
            text = _longer(text)
        for at in range(length):
            text[starts[new] + at] = text[starts[left] + at]
        for at in range(total - starts[new] - length):
            text[starts[new] + length + at] = text[starts[right] + at]
        starts[new + 1] = total
        prefixes[new] = _prefix(text, starts[new], total)
        merges[step, 0], merges[step, 1] = left, right
        step += 1
        entry = heads[pair]
        heads[pair] = tails[pair] = -1
    return merges[:step]
