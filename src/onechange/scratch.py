"""A folder that one process works in for a while; what a process that was killed left is deleted by the next."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def folder(prefix: str, parent: Path | None = None) -> Iterator[Path]:
    """A new folder in ``parent`` (of temporary files, unless given), locked as long as it is used, then deleted."""
    parent = parent or Path(tempfile.gettempdir())
    for left in parent.glob(f"{prefix}*"):
        with suppress(OSError):
            _sweep(left)
    while True:
        place = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        handle = os.open(place, os.O_RDONLY)
        fcntl.flock(handle, fcntl.LOCK_EX)
        if place.exists():  # else another process swept it away before it was locked
            break
        os.close(handle)
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)
        os.close(handle)


def _sweep(left: Path) -> None:
    handle = os.open(left, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(left, ignore_errors=True)
    finally:
        os.close(handle)
