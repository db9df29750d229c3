"""A folder that one process works in for a while; what a process that was killed left is deleted by the next.

Beside it lies a file of its name and ``.lock``, which is there and held before the folder is.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from onechange import os_lock

_LOCK = ".lock"


@contextmanager
def folder(prefix: str, parent: Path | None = None, suffix: str = "") -> Iterator[Path]:
    """A new folder in ``parent`` (of temporary files, unless given), locked as long as it is used, then deleted.

    Its name begins with ``prefix`` and ends with ``suffix``; so do those of dead processes, which go first.
    """
    parent = parent or Path(tempfile.gettempdir())
    for left in {path.with_name(path.name.removesuffix(_LOCK)) for path in parent.glob(f"{prefix}*")}:
        if left.name.endswith(suffix):
            with suppress(OSError):
                _sweep(left)
    place, lock = _begun(parent, prefix, suffix)
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)
        os_lock.remove(_lock(place), lock)


def _begun(parent: Path, prefix: str, suffix: str) -> tuple[Path, BinaryIO]:
    while True:
        handle, name = tempfile.mkstemp(prefix=prefix, suffix=suffix + _LOCK, dir=parent)
        lock, place = os.fdopen(handle, "wb"), Path(name.removesuffix(_LOCK))
        if (
            os_lock.take(lock) and _lock(place).exists()
        ):  # else another process has just taken it for a dead one's
            try:
                place.mkdir(mode=0o700)
            except BaseException:
                os_lock.remove(_lock(place), lock)
                raise
            return place, lock
        lock.close()


def _lock(place: Path) -> Path:
    return place.with_name(place.name + _LOCK)


def _sweep(place: Path) -> None:
    """Remove the folder ``place`` unless its process lives."""
    lock = _lock(place).open("ab")
    if os_lock.take(lock):
        shutil.rmtree(place, ignore_errors=True)
        os_lock.remove(_lock(place), lock)
    else:
        lock.close()
