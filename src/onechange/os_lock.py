"""Locks of the operating system on files: whoever holds one loses it with its process, however that ends.

Linux and macOS have `fcntl`, Windows has `msvcrt`, which locks a byte that the file need not have. Only who opened the
file holds it: neither another opening in the same process nor a child that was started does.
"""

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

_LOOKS, _BETWEEN = 5, 0.02
"""Where a look is a lock of its own, another look may be in the way, for an instant."""


def take(file: IO[Any]) -> bool:
    """Hold ``file`` alone until it is closed; false if another does."""
    if fcntl is None:
        return _take_byte(file.fileno())
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def is_taken(path: Path) -> bool:
    """Whether a process holds the file ``path`` now. Who only looks keeps others who look out of nothing."""
    try:
        with path.open("rb") as file:
            if fcntl is None:
                return not any(_could_take_byte(file.fileno()) for _ in range(_LOOKS))
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False


def remove(path: Path, file: IO[Any]) -> None:
    """Delete the file ``path`` that is held as ``file``, and close it.

    Windows deletes no open file; it deletes none that another has opened meanwhile either, which here would be wrong.
    """
    with suppress(OSError):
        path.unlink()
    file.close()
    if os.name == "nt":
        with suppress(OSError):
            path.unlink()


def _take_byte(handle: int) -> bool:
    msvcrt = _windows()
    os.lseek(handle, 0, os.SEEK_SET)
    try:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
    except OSError:
        return False
    return True


def _could_take_byte(handle: int) -> bool:
    if _take_byte(handle):
        msvcrt = _windows()
        os.lseek(handle, 0, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)  # of a closed file Windows frees it when it comes to it
        return True
    time.sleep(_BETWEEN)
    return False


def _windows() -> Any:
    import msvcrt  # its names are unknown to type checkers elsewhere

    return msvcrt
