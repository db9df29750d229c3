"""The folder that an export becomes: there is none, or a whole one that has been checked."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from onechange import atomic, scratch

Made = TypeVar("Made")


def check_free(folder: Path) -> None:
    """A `ValueError` unless ``folder`` can be made: it is not there, or is an empty folder."""
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise ValueError(f"{folder} is there and is no folder: name one that is to be made")
    if folder.is_dir() and any(folder.iterdir()):
        raise ValueError(f"{folder} is not empty: an export is written into a folder of its own")


def make(folder: Path, fill: Callable[[Path], Made]) -> Made:
    """Make ``folder`` of what ``fill`` writes into the folder that it is given; whatever it raises, nothing is left.

    What a kill leaves has another name, and goes when the same is exported again.
    """
    folder = folder.absolute()
    check_free(folder)
    with _naming(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        with scratch.folder(f".{folder.name}-", folder.parent, ".part") as part:
            inner = part / "export"  # which others may read, as they may not `part`
            inner.mkdir()
            made = fill(inner)
            for file in inner.iterdir():
                atomic.sync(file)
            check_free(folder)
            inner.rename(folder)
        atomic.sync(folder.parent)
    return made


@contextmanager
def _naming(folder: Path) -> Iterator[None]:
    """An `OSError` names the folder that was asked for, not the one that stood in for it."""
    try:
        yield
    except OSError as error:
        if not error.strerror:
            raise
        raise OSError(f"{folder} cannot be written: {error.strerror}; nothing is left of it") from None
