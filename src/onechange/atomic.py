"""Files and folders that are there whole or not at all, whatever happens while they are written."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

PATIENCE = 5.0 if os.name == "nt" else 0.0
"""Seconds. Windows replaces no file that another process has open, be it but for the instant of a look."""


def write(path: Path, content: bytes | str) -> None:
    """Put ``content`` at ``path``: after a crash at any instant the file is the old one or the new one.

    For one writer at a time. If the disk cannot take it, the old file stays and the `OSError` says why.
    """
    unfinished = path.with_name(f"{path.name}.part")
    try:
        with naming(path), unfinished.open("wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        replace(unfinished, path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
    sync(path.parent)


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """An `OSError` from within names ``path``: a full disk does not say whose write it refuses."""
    try:
        yield
    except OSError as error:
        if error.errno:
            error.filename = error.filename or str(path)
        raise


def folder(path: Path, fill: Callable[[Path], None]) -> None:
    """Make the folder ``path`` from what ``fill`` writes into the empty folder that it is given."""
    unfinished = path.with_name(f"{path.name}.part")
    remove(unfinished)
    unfinished.mkdir(parents=True)
    fill(unfinished)
    for file in unfinished.iterdir():
        sync(file)
    sync(unfinished)
    if path.exists():
        remove(path)
    replace(unfinished, path)
    sync(path.parent)


def replace(new: Path, path: Path) -> None:
    """Give ``new`` the name ``path``, whatever had it. What is being read may have to be waited for."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            new.replace(path)
            return
        except PermissionError:
            if time.monotonic() >= until:
                raise
        time.sleep(0.01)


def remove(path: Path) -> None:
    """Delete a flat folder, if it is there."""
    if path.is_dir():
        for file in path.iterdir():
            file.unlink()
        path.rmdir()


def sync(path: Path) -> None:
    """Ask the operating system to put a file or a folder's entries on the disk; Windows does the latter by itself."""
    if os.name == "nt" and path.is_dir():
        return
    descriptor = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
