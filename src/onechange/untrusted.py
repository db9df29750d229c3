"""Reading folders that may come from a stranger: nothing outside the folder, nothing endless, nothing too large."""

import os
import stat
from pathlib import Path

SMALL = 1 << 20
"""Bytes: more than any file of a few facts has."""
LARGE = 1 << 28
"""Bytes: more than any file has that grows with the text or the training."""


def read(path: Path, most: int) -> bytes:
    """All of the file ``path``. A `ValueError` if it is longer than ``most`` bytes, or no plain file at all."""
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise ValueError(f"{path} is no plain file")
    if status.st_size > most:
        raise ValueError(f"{path} has {status.st_size:,} bytes, it may have at most {most:,}")
    return path.read_bytes()


def stay_inside(folder: Path) -> None:
    """Raise a `ValueError` if anything below ``folder`` leads out of it, or is neither a file nor a folder.

    The folder itself may be reached through a link: that is its owner's choice.
    """
    root = folder.resolve()
    for place, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(place, name)
            try:
                kind = path.lstat().st_mode
            except FileNotFoundError:  # gone meanwhile: a run that trains here replaces its files
                continue
            if stat.S_ISLNK(kind):
                try:
                    outside = not path.resolve().is_relative_to(root)
                except (OSError, RuntimeError):  # a link that leads to itself
                    outside = True
                if outside:
                    raise ValueError(f"{path} is a link that leads out of {folder}: it is not followed")
            elif not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)):
                raise ValueError(f"{path} is neither a file nor a folder")
