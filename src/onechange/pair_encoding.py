"""Byte-pair encoding: text cut into pieces, the pieces made of symbols, the symbols merged.

Every distinct piece is merged once; a text is then the tokens of its pieces, looked up.
"""

import copy
import threading
from collections.abc import Iterable, Sequence
from itertools import chain, pairwise

import numpy as np
from jaxtyping import Int32, Int64

from onechange import counting, merges, small_merges
from onechange.compiled import compiled
from onechange.merging import Merging
from onechange.piece_table import PieceTable
from onechange.pieces import Pieces
from onechange.symbols import Symbols

MOST_REMEMBERED = 1 << 22
"""Bytes of distinct pieces, and an eighth as many pieces, that are remembered before `PairEncoding` begins anew."""


def learn(
    documents: Iterable[bytes], symbols: Symbols, pieces: Pieces, number: int
) -> list[tuple[bytes, bytes]]:
    """At most ``number`` merges, each as its left and its right token, from UTF-8 ``documents``, which are read once.

    `onechange.merges.learn` says which. The ids of ``symbols`` are their numbers in the order of its ``tokens``. A
    `ValueError` names a character that is no symbol.
    """
    unread, held, size = iter(documents), [], 0
    while size <= small_merges.MOST_TEXT and (document := next(unread, None)) is not None:
        held.append(document)
        size += len(document)
    few = small_merges.count(held, pieces) if size <= small_merges.MOST_TEXT else None
    if few is not None:
        text, ends, times = small_merges.joined(few)
    else:
        counts = counting.count(chain(held, unread), pieces)
        text, ends, times = counts.table.text, counts.table.ends, counts.times
    try:
        ids, id_ends = symbols.ids(text, ends)
    except ValueError:
        for start, end in pairwise(
            [0, *ends.tolist()]
        ):  # one piece's error gives places that a person can find
            symbols.ids(text[start:end], np.array([end - start]))
        raise
    learner = merges.learn if few is None else small_merges.learn
    tokens, found = symbols.tokens, []
    for left, right in learner(merges.laid_out(ids, id_ends, times), tokens, number):
        found.append((tokens[left], tokens[right]))
        tokens.append(tokens[left] + tokens[right])
    return found


def check(member: str, vocabulary: int, learn_from: str) -> None:
    """Raise a `ValueError` for a setting of ``member`` that makes no sense."""
    if vocabulary < 1:
        raise ValueError(f"tokenizer {member!r}: vocabulary = {vocabulary}: must be at least 1")
    if learn_from not in ("training", "all"):
        raise ValueError(f"tokenizer {member!r}: learn_from = {learn_from!r}: must be 'training' or 'all'")


def remarks(tokens: Sequence[bytes], vocabulary: int, learn_from: str) -> list[str]:
    """What is to be told of ``tokens`` that were learned to be as many as ``vocabulary``."""
    found = []
    if len(tokens) < vocabulary:
        found.append(
            f"the vocabulary ends at {len(tokens)} of {vocabulary} tokens: "
            + (
                "in the text learned from, no two tokens are left to merge"
                if sum(map(len, tokens)) <= merges.MOST_BYTES // 2
                else f"one more would make them longer than {merges.MOST_BYTES:,} bytes together"
            )
        )
    if learn_from == "all":
        found.append("merges were learned from all text, validation text too")
    return found


class PairEncoding:
    """Texts to ids by merges. Several threads may use it, one at a time gets on.

    ``tokens``: what every id stands for; ``merged``: the left and the right token of each merge, in order. A
    `ValueError` names a merge that does not fit.
    """

    def __init__(
        self,
        symbols: Symbols,
        pieces: Pieces,
        tokens: Sequence[bytes],
        merged: Sequence[tuple[bytes, bytes]],
    ) -> None:
        self._symbols, self._pieces = symbols, pieces
        self._merging = Merging(*_numbered(symbols, tokens, merged))
        self._remembered = MOST_REMEMBERED
        self._lock = threading.Lock()
        self._forget()

    def remembering(self, remembered: int) -> "PairEncoding":
        """One with the same merges that remembers so many bytes (see `MOST_REMEMBERED`), and so far nothing."""
        other = copy.copy(self)
        other._remembered, other._lock = remembered, threading.Lock()
        other._forget()
        return other

    def encode(self, documents: Sequence[bytes]) -> Int32[np.ndarray, " tokens"]:
        """The ids of UTF-8 ``documents``, one after the other. No token spans two of them.

        A `ValueError` if there is a character that is no symbol.
        """
        with self._lock:
            parts = [self._part(*cut) for cut in self._pieces.cuts(documents)]
        return parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, np.int32), *parts])

    def _part(
        self, text: np.ndarray, start: int, ends: Int64[np.ndarray, " pieces"]
    ) -> Int32[np.ndarray, " tokens"]:
        if len(self._table.text) > self._remembered or len(self._table) > self._remembered // 8:
            self._forget()
        table = self._table
        known = len(table)
        pieces = table.numbers(text, start, ends)
        if len(table) > known:
            self._merge(known)
        return _expanded(pieces, self._ends, self._ids)

    def _merge(self, known: int) -> None:
        """Find the tokens of the pieces from number ``known`` on."""
        first = int(self._table.ends[known - 1]) if known else 0
        new, new_ends = self._table.text[first:], self._table.ends[known:] - first
        try:
            symbols, symbol_ends = self._symbols.ids(new, new_ends)
        except ValueError:
            self._forget()  # pieces without tokens must not be found again
            raise
        tokens, ends = self._merging.apply(symbols, symbol_ends)
        used, pieces = int(self._ends[known]), len(self._table)
        self._ids = _with_room(self._ids, used + len(tokens))
        self._ends = _with_room(self._ends, pieces + 1)
        self._ids[used : used + len(tokens)] = tokens
        self._ends[known + 1 : pieces + 1] = ends + used

    def _forget(self) -> None:
        self._table = PieceTable()
        self._ids = np.empty(1 << 10, dtype=np.int32)
        self._ends = np.zeros(1 << 10, dtype=np.int64)


def _numbered(
    symbols: Symbols, tokens: Sequence[bytes], merged: Sequence[tuple[bytes, bytes]]
) -> tuple[list[tuple[int, int]], list[int]]:
    """The ids of every merge's left and right token, and the id that the two become."""
    ids = {token: number for number, token in enumerate(tokens)}
    if len(ids) < len(tokens):
        twice = next(token for number, token in enumerate(tokens) if ids[token] != number)
        raise ValueError(f"{_shown(twice)} is a token already")
    known, bytes_of_all = set(symbols.tokens), 0
    pairs, made = [], []
    for number, (left, right) in enumerate(merged):
        for part in (left, right):
            if part not in known:
                raise ValueError(
                    f"merge {number} joins {_shown(left)} and {_shown(right)}, "
                    f"but no token {_shown(part)} comes before it"
                )
        bytes_of_all += len(left) + len(right)
        if bytes_of_all > merges.MOST_BYTES:
            raise ValueError(
                f"merge {number} makes the tokens longer than {merges.MOST_BYTES:,} bytes in all"
            )
        both = left + right
        if both in known:
            raise ValueError(f"merge {number} makes {_shown(both)}, which is a token already")
        if both not in ids:
            raise ValueError(f"merge {number} makes {_shown(both)}, which has no id")
        known.add(both)
        pairs.append((ids[left], ids[right]))
        made.append(ids[both])
    return pairs, made


def _shown(token: bytes) -> str:
    return repr(token.decode(errors="backslashreplace"))


def _with_room(array: np.ndarray, length: int) -> np.ndarray:
    """The same where it is long enough, else a longer one that begins alike."""
    if length <= len(array):
        return array
    longer = np.empty(max(2 * len(array), length), dtype=array.dtype)
    longer[: len(array)] = array
    return longer


@compiled
def _expanded(pieces: np.ndarray, ends: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """The ids of all ``pieces``; those of number i lie between ``ends`` number i and i + 1."""
    total = 0
    for piece in pieces:
        total += ends[piece + 1] - ends[piece]
    found = np.empty(total, np.int32)
    at = 0
    for piece in pieces:
        for place in range(ends[piece], ends[piece + 1]):
            found[at] = ids[place]
            at += 1
    return found
