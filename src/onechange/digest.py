"""Marks of files: length and SHA-256, by which a truncated or altered file is known."""

import hashlib
from pathlib import Path
from typing import Any

Mark = dict[str, Any]
"""``{"bytes": …, "sha256": …}``, ready for JSON."""


class Damaged(ValueError):
    """A file that is not what was written; the message names it. ``path`` is the file."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(f"{path} is damaged: {why}")
        self.path = path


def of_bytes(content: bytes) -> Mark:
    """The mark of ``content``."""
    return {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}


def of_file(path: Path) -> Mark:
    """The mark of the file ``path``, which is read piece by piece."""
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    return {"bytes": path.stat().st_size, "sha256": sha256}


def check(path: Path, mark: Any) -> None:
    """Raise `Damaged` unless the file ``path`` is there and has the ``mark``. Its length is looked at first."""
    if not isinstance(mark, dict) or mark.keys() != {"bytes", "sha256"}:
        raise Damaged(path, "there is no mark of it to compare with")
    if not path.is_file():
        raise Damaged(path, "it is missing")
    length = path.stat().st_size
    if length != mark["bytes"]:
        raise Damaged(path, f"it has {length:,} bytes, {mark['bytes']} were written")
    if of_file(path) != mark:
        raise Damaged(path, "its SHA-256 is not that of what was written")
