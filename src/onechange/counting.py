"""How often each piece stands in a text: cut and counted in one pass, by as many threads as there are processors."""

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
from jaxtyping import Int32, Int64

from onechange import processor
from onechange.compiled import compiled
from onechange.piece_table import PieceTable
from onechange.pieces import Pieces

AT_ONCE = 1 << 21
"""Bytes of text that a thread is handed at a time, unless one document has more."""


class Counts:
    """Distinct pieces, and how often each occurs, in 64 bits."""

    def __init__(self) -> None:
        self.table = PieceTable()
        self._times = np.zeros(0, dtype=np.int64)

    def __len__(self) -> int:
        return len(self.table)

    @property
    def times(self) -> Int64[np.ndarray, " pieces"]:
        """How often each piece of `table` occurs, in the order of their numbers."""
        return self._times[: len(self)]

    def add(self, documents: list[bytes], pieces: Pieces) -> "Counts":
        """Count the pieces of UTF-8 ``documents`` too."""
        for text, start, ends in pieces.cuts(documents):
            self._count(self.table.numbers(text, start, ends), np.ones(1, dtype=np.int64))
        return self

    def merge(self, other: "Counts") -> None:
        """Add what ``other`` has counted."""
        self._count(self.table.numbers(other.table.text, 0, other.table.ends), other.times)

    def _count(self, numbers: Int32[np.ndarray, " found"], times: Int64[np.ndarray, "_"]) -> None:
        """``times``: of each of ``numbers``, or once for all."""
        missing = len(self) - len(self._times)
        if missing > 0:
            more = np.zeros(max(len(self._times), missing), dtype=np.int64)
            self._times = np.concatenate([self._times, more])
        _add(self._times, numbers, times)


@compiled
def _add(counts: np.ndarray, numbers: np.ndarray, times: np.ndarray) -> None:
    for at in range(len(numbers)):
        counts[numbers[at]] += times[at if len(times) > 1 else 0]


def count(documents: Iterable[bytes], pieces: Pieces, threads: int | None = None) -> Counts:
    """The distinct pieces of UTF-8 ``documents`` with their counts. No piece spans two documents.

    The order of the pieces depends on the threads, so nothing that is made of them may depend on it. ``threads``: as
    many as this process may use processors, unless told otherwise.
    """
    threads = threads or processor.threads(0)
    free = [Counts() for _ in range(threads)]
    running: deque[Future[Counts]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        for batch in _batches(documents):
            if not free:
                free.append(running.popleft().result())
            running.append(pool.submit(free.pop().add, batch, pieces))
    found, *others = sorted([*free, *(each.result() for each in running)], key=len, reverse=True)
    for other in others:
        found.merge(other)
    return found


def _batches(documents: Iterable[bytes]) -> Iterator[list[bytes]]:
    batch: list[bytes] = []
    size = 0
    for document in documents:
        batch.append(document)
        size += len(document)
        if size >= AT_ONCE:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
