"""Byte-pair encoding: text cut into pieces, the pieces made of symbols, the symbols merged.

Every distinct piece is merged once; a text is then the tokens of its pieces, looked up.
"""

import threading
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from jaxtyping import Int32, Int64

from onechange import counting, merges
from onechange.compiled import compiled
from onechange.merging import Merging
from onechange.piece_table import PieceTable
from onechange.pieces import Pieces
from onechange.symbols import Symbols

MOST_REMEMBERED = 1 << 24
"""Bytes of distinct pieces, and a quarter as many pieces, that are remembered before `PairEncoding` begins anew."""


def learn(documents: Iterable[bytes], symbols: Symbols, pieces: Pieces, number: int) -> list[tuple[int, int]]:
    """At most ``number`` merges, as `onechange.merges.learn` gives them, from UTF-8 ``documents``, read once.

    A `ValueError` if a document has a character that is no symbol.
    """
    counts = counting.count(documents, pieces)
    ids, ends = symbols.numbers(counts.table.text, counts.table.ends)
    return merges.learn(merges.laid_out(ids, ends, counts.times), symbols.tokens, number)


class PairEncoding:
    """Texts to ids by merges. Several threads may use it, one at a time gets on.

    ``pairs``: the ids of the left and the right token of each merge, in order; ``made``: the id that each becomes.
    ``remembered``: see `MOST_REMEMBERED`.
    """

    def __init__(
        self,
        symbols: Symbols,
        pieces: Pieces,
        pairs: Sequence[tuple[int, int]],
        made: Sequence[int],
        remembered: int = MOST_REMEMBERED,
    ) -> None:
        self._symbols, self._pieces = symbols, pieces
        self._merging = Merging(pairs, made)
        self._remembered = remembered
        self._lock = threading.Lock()
        self._forget()

    def __getstate__(self) -> dict[str, Any]:
        raise TypeError("a PairEncoding is made again from its merges, not copied")

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
        if len(self._table.text) > self._remembered or len(self._table) > self._remembered // 4:
            self._forget()
        table = self._table
        known = len(table)
        pieces = table.numbers(text, start, ends)
        if len(table) > known:
            self._merge(known)
        lengths = np.diff(self._ends[: len(table) + 1])[pieces]
        ids = np.empty(int(lengths.sum()), dtype=np.int32)
        _expand(pieces, self._ends, self._ids, ids)
        return ids

    def _merge(self, known: int) -> None:
        """Find the tokens of the pieces from number ``known`` on."""
        first = int(self._table.ends[known - 1]) if known else 0
        new, new_ends = self._table.text[first:], self._table.ends[known:] - first
        try:
            symbols, symbol_ends = self._symbols.numbers(new, new_ends)
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


def _with_room(array: np.ndarray, length: int) -> np.ndarray:
    """The same where it is long enough, else a longer one that begins alike."""
    if length <= len(array):
        return array
    longer = np.empty(max(2 * len(array), length), dtype=array.dtype)
    longer[: len(array)] = array
    return longer


@compiled
def _expand(pieces: np.ndarray, ends: np.ndarray, ids: np.ndarray, found: np.ndarray) -> None:
    """Write the ids of all ``pieces`` into ``found``; those of number i lie between ``ends`` number i and i + 1."""
    at = 0
    for piece in pieces:
        for place in range(ends[piece], ends[piece + 1]):
            found[at] = ids[place]
            at += 1
