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
"""

import heapq
from array import array
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise

Pair = tuple[int, int]

NOTHING = -1
"""The id that stands between two pieces and where a token was swallowed by the one before it."""


def learn(pieces: Mapping[str, int], alphabet: str, number: int) -> list[tuple[str, str]]:
    """At most ``number`` merges, in order, each as its left and its right token.

    ``pieces``: how often each piece of text occurs; no merge spans two pieces. ``alphabet``: all their
    characters, distinct. Among equally frequent pairs the lexicographically greatest is merged, left token
    first, then right, compared by code points. Fewer merges come back when every piece has become one token.
    """
    tokens = list(alphabet)
    ids, weights = _laid_out(pieces, alphabet)
    row = "i" if len(ids) < 1 << 31 else "q"
    before = array(row, range(-1, len(ids) - 1))
    after = array(row, range(1, len(ids) + 1))
    ties = _Ties(alphabet)
    counts: defaultdict[Pair, int] = defaultdict(int)
    places: defaultdict[Pair, array[int]] = defaultdict(lambda: array(row))
    for place, pair in enumerate(pairwise(ids)):
        if NOTHING not in pair:
            counts[pair] += weights[place]
            places[pair].append(place)
    heap = [(-count, ties.key(pair), pair) for pair, count in counts.items()]
    heapq.heapify(heap)
    merges: list[tuple[str, str]] = []
    while heap and len(merges) < number:
        noted, tie, pair = heap[0]
        if counts[pair] != -noted:
            if counts[pair]:
                heapq.heapreplace(heap, (-counts[pair], tie, pair))
            else:
                heapq.heappop(heap)
            continue
        heapq.heappop(heap)
        left, right = pair
        new = len(tokens)
        tokens.append(tokens[left] + tokens[right])
        merges.append((tokens[left], tokens[right]))
        ties.add(pair)
        made: set[Pair] = set()
        for place in places.pop(pair):
            swallowed = after[place]
            if ids[place] != left or ids[swallowed] != right:
                continue
            weight = weights[place]
            previous, following = before[place], after[swallowed]
            if ids[previous] != NOTHING:
                counts[ids[previous], left] -= weight
                made.add((ids[previous], new))
                counts[ids[previous], new] += weight
                places[ids[previous], new].append(previous)
            if ids[following] != NOTHING:
                counts[right, ids[following]] -= weight
                made.add((new, ids[following]))
                counts[new, ids[following]] += weight
                places[new, ids[following]].append(place)
            ids[place], ids[swallowed] = new, NOTHING
            after[place], before[following] = following, place
        for fresh in made:
            if counts[fresh]:
                heapq.heappush(heap, (-counts[fresh], ties.key(fresh), fresh))
    return merges


def apply(ids: Sequence[int], merged: Mapping[Pair, int]) -> list[int]:
    """The ids of one piece after all merges, in the order in which they were learned.

    ``merged``: the id that each pair becomes; ids rise in the order of learning, so the smallest id that a
    pair can become is the merge to do next. Takes O(n log n) for a piece of n characters.
    """
    ids = [*ids, NOTHING]
    before = list(range(-1, len(ids) - 1))
    after = list(range(1, len(ids) + 1))
    heap = [(merged[pair], at) for at, pair in enumerate(pairwise(ids)) if pair in merged]
    heapq.heapify(heap)
    while heap:
        new, place = heapq.heappop(heap)
        if merged.get((ids[place], ids[after[place]])) != new:
            continue
        swallowed = after[place]
        previous, following = before[place], after[swallowed]
        ids[place], ids[swallowed] = new, NOTHING
        after[place], before[following] = following, place
        if (ids[previous], new) in merged:  # before the first place, -1 reads the NOTHING at the end
            heapq.heappush(heap, (merged[ids[previous], new], previous))
        if (new, ids[following]) in merged:
            heapq.heappush(heap, (merged[new, ids[following]], place))
    return [number for number in ids if number != NOTHING]


def _laid_out(pieces: Mapping[str, int], alphabet: str) -> tuple["array[int]", "array[int]"]:
    """All pieces in one row of ids, `NOTHING` around each; and how often the piece at each place occurs."""
    rank = {character: number for number, character in enumerate(alphabet)}
    ids, weights = array("i", [NOTHING]), array("q", [0])
    for piece, count in pieces.items():
        if len(piece) > 1:
            ids.extend([rank[character] for character in piece])
            ids.append(NOTHING)
            weights.extend([count] * (len(piece) + 1))
    return ids, weights


class _Ties:
    """Text by which a heap, which gives the smallest, gives the greatest pair.

    Each character is written as its opposite (the greatest first) and each token closed by a sign beyond them
    all, so that of two tokens of which one begins with the other, the longer comes first.
    """

    def __init__(self, alphabet: str) -> None:
        ordered = sorted(alphabet, reverse=True)
        opposite = {character: chr(number) for number, character in enumerate(ordered)}
        self._close = chr(len(ordered))
        self._written = [opposite[character] for character in alphabet]

    def add(self, pair: Pair) -> None:
        """The token that ``pair`` becomes gets the next id."""
        self._written.append(self._written[pair[0]] + self._written[pair[1]])

    def key(self, pair: Pair) -> str:
        return self._written[pair[0]] + self._close + self._written[pair[1]] + self._close
