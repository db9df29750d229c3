"""Files and folders that are there whole or not at all, whatever happens while they are written."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


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
        unfinished.replace(path)
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
    unfinished.replace(path)
    sync(path.parent)


def remove(path: Path) -> None:
    """Delete a flat folder, if it is there."""
    if path.is_dir():
        for file in path.iterdir():
            file.unlink()
        path.rmdir()


def sync(path: Path) -> None:
    """Ask the operating system to put a file or a folder's entries on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
