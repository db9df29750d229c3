"""Merges of a small text in plain Python: done before the loops for large ones would be compiled.

The algorithm is that of `onechange.merges`, where it is told; tests hold the two together.
"""

import heapq
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import regex

from onechange import merges, unicode_classes
from onechange.merges import NOTHING, Row
from onechange.pieces import Pieces

MOST_TEXT = 1 << 19
"""Bytes of text that count as small."""
_CLOSE = chr(256)


def count(documents: Sequence[bytes], pieces: Pieces) -> Counter[str] | None:
    """How often each piece stands in UTF-8 ``documents``; ``None`` where the library `regex` would cut otherwise.

    It does where its Unicode has another class for a character than ours.
    """
    texts = [document.decode() for document in documents]
    if not _alike(set().union(*texts)):
        return None
    cut = regex.compile(pieces.regex).findall if pieces.named else pieces.cut
    found: Counter[str] = Counter()
    for text in texts:
        found.update(cut(text))
    return found


def _alike(characters: set[str]) -> bool:
    """Whether `regex` has all ``characters`` in the classes of `onechange.unicode_classes`."""
    kinds = {
        unicode_classes.LETTER: r"\p{L}",
        unicode_classes.DIGIT: r"\p{Nd}",
        unicode_classes.NUMBER: r"[\p{Nl}\p{No}]",
        unicode_classes.SPACE: r"\s",
        unicode_classes.OTHER: r"[^\p{L}\p{N}\s]",
    }
    classes = unicode_classes.classes()
    by_class: defaultdict[int, list[str]] = defaultdict(list)
    for character in characters:
        by_class[int(classes[ord(character)])].append(character)
    return all(regex.fullmatch(f"{kinds[kind]}+", "".join(some)) for kind, some in by_class.items())


def learn(row: Row, tokens: Sequence[bytes], number: int) -> list[tuple[int, int]]:
    """What `onechange.merges.learn` finds."""
    ids = row.ids.tolist()
    weights = row.times[row.piece].tolist() if len(row.times) else []
    before, after = list(range(-1, len(ids) - 1)), list(range(1, len(ids) + 1))
    # Text by which a heap, which gives the smallest, gives the greatest: each byte as its opposite, each token
    # closed by a sign beyond them all, so that of two of which one begins with the other the longer comes first.
    written = ["".join([chr(255 - byte) for byte in token]) for token in tokens]
    counts: defaultdict[tuple[int, int], int] = defaultdict(int)
    places: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    for place, pair in enumerate(pairwise(ids)):
        if NOTHING not in pair:
            counts[pair] += weights[place]
            places[pair].append(place)

    def entry(pair: tuple[int, int]) -> tuple[int, str, tuple[int, int]]:
        return -counts[pair], written[pair[0]] + _CLOSE + written[pair[1]] + _CLOSE, pair

    heap = [entry(pair) for pair in counts]
    heapq.heapify(heap)
    found: list[tuple[int, int]] = []
    size = sum(map(len, tokens))
    while heap and len(found) < number:
        noted, _, pair = heap[0]
        if counts[pair] != -noted:
            if counts[pair]:
                heapq.heapreplace(heap, entry(pair))
            else:
                heapq.heappop(heap)
            continue
        heapq.heappop(heap)
        left, right = pair
        new = len(written)
        size += len(written[left]) + len(written[right])
        if size > merges.MOST_BYTES:
            break
        found.append(pair)
        written.append(written[left] + written[right])
        made: set[tuple[int, int]] = set()
        for place in places.pop(pair):
            swallowed = after[place]
            if ids[place] != left or ids[swallowed] != right:
                continue
            previous, following = before[place], after[swallowed]
            for lost, fresh, where in (
                ((ids[previous], left), (ids[previous], new), previous),
                ((right, ids[following]), (new, ids[following]), place),
            ):
                if NOTHING not in lost:
                    counts[lost] -= weights[place]
                    counts[fresh] += weights[place]
                    places[fresh].append(where)
                    made.add(fresh)
            ids[place], ids[swallowed] = new, NOTHING
            after[place], before[following] = following, place
        for fresh in made:
            if counts[fresh]:
                heapq.heappush(heap, entry(fresh))
    return found


def joined(counts: Counter[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The pieces' UTF-8, where in it each ends, and how often each occurs."""
    contents = [piece.encode() for piece in counts]
    ends = np.cumsum([len(content) for content in contents], dtype=np.int64)
    times = np.array([*counts.values()], dtype=np.int64)
    return np.frombuffer(b"".join(contents), dtype=np.uint8), ends, times
