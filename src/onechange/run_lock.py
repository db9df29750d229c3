"""The lock on a run's folder: one process at a time writes there. The operating system frees it with its process."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from onechange import os_lock

PATIENCE = 10.0
"""Seconds to wait for a writer that is about to end: a job whose study was killed a moment ago."""


@contextmanager
def locked(run: Path, patience: float | None = None) -> Iterator[None]:
    """Hold the folder ``run``; a `BlockingIOError` says that another process still does after ``patience`` seconds.

    ``None`` is `PATIENCE`.
    """
    run.mkdir(parents=True, exist_ok=True)
    with (run / ".lock").open("ab") as file:
        until = time.monotonic() + (PATIENCE if patience is None else patience)
        while not os_lock.take(file):
            if time.monotonic() >= until:
                raise BlockingIOError(f"{run} is in use: another process trains this run")
            time.sleep(0.05)
        yield


def is_locked(run: Path) -> bool:
    """Whether a process holds the folder ``run`` now, as one that trains there does."""
    return os_lock.is_taken(run / ".lock")
