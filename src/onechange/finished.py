"""Folders of the cache that are used only when they are whole.

A folder is filled under a name of its own, put on the disk, marked as finished and only then renamed. The mark holds
what the folder is about and the size and checksum of every file in it; the mark has a checksum itself.
"""

import errno
import hashlib
import json
import os
import shutil
import tempfile
import zlib
from collections.abc import Callable, Collection, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, BinaryIO

from onechange import atomic, scratch

MARK = "finished.json"
_UNFINISHED = ".part"
_CHUNK = 1 << 22


class Writer:
    """One file of a folder that is being filled; sums what goes through it."""

    def __init__(self, path: Path) -> None:
        self._file: BinaryIO = path.open("wb")
        self.name, self.bytes, self.crc32 = path.name, 0, 0

    def write(self, content: bytes | memoryview) -> None:
        """Append ``content``."""
        self._file.write(content)
        self.bytes += len(content)
        self.crc32 = zlib.crc32(content, self.crc32)

    def finish(self) -> dict[str, Any]:
        """Put the file on the disk; returns what the mark says of it."""
        if not self._file.closed:
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
        return {"bytes": self.bytes, "crc32": self.crc32}

    def close(self) -> None:
        """Let go of a file that will not be finished; a disk that is full has no say any more."""
        with suppress(OSError):
            self._file.close()


class Filling:
    """A folder while it is filled."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._files: dict[str, dict[str, Any]] = {}
        self._open: list[Writer] = []

    def writer(self, name: str) -> Writer:
        """A new file in it; whoever asked closes it, or else the end of the filling does."""
        self._open.append(Writer(self.path / name))
        return self._open[-1]

    def wrote(self, name: str) -> None:
        """Something else wrote the file ``name``."""
        path = self.path / name
        self._files[name] = {"bytes": path.stat().st_size, "crc32": _checksum(path)}

    def files(self) -> dict[str, dict[str, Any]]:
        """Put all files on the disk; returns their sizes and checksums."""
        self._files |= {writer.name: writer.finish() for writer in self._open}
        return self._files

    def close(self) -> None:
        """Let go of the files, whatever became of them."""
        for writer in self._open:
            writer.close()


Fill = Callable[[Filling], dict[str, Any]]
"""Given an empty folder, writes files into it and returns what the mark is to hold: JSON."""


def make(folder: Path, fill: Fill, expected: Callable[[], int]) -> None:
    """Make ``folder`` with ``fill``. If another process made it meanwhile, its folder stays.

    Whatever goes wrong, nothing half-written is left, but by a kill: that is removed the next time. ``expected`` says
    about how many bytes it will take, for the `OSError` of a disk that cannot take them.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        _make(folder, fill)
    except OSError as error:
        ours = error.filename is not None and Path(error.filename).is_relative_to(folder.parent)
        if error.errno in (errno.ENOSPC, errno.EDQUOT) or ours:
            raise OSError(_no_room(folder.parent, error.strerror or str(error), expected())) from None
        raise


def _no_room(place: Path, why: str, expected: int) -> str:
    there = next((above for above in (place, *place.parents) if above.is_dir()), Path("/"))
    return (
        f"{place}: a corpus of this size is kept there, and cannot be ({why}): it takes about {expected / 1e6:,.0f} "
        f"MB, {shutil.disk_usage(there).free / 1e6:,.0f} MB are free; XDG_CACHE_HOME=FOLDER keeps it elsewhere"
    )


def _make(folder: Path, fill: Fill) -> None:
    with scratch.folder(f".{folder.name}-", folder.parent, _UNFINISHED) as part:
        with closing(Filling(part)) as filling:
            content = json.dumps({**fill(filling), "files": filling.files()}).encode()
        atomic.write(part / MARK, hashlib.sha256(content).hexdigest().encode() + b"\n" + content)
        if folder.exists() and read(folder) is None:
            remove(folder)
        try:
            part.rename(folder)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
        atomic.sync(folder.parent)


def read(folder: Path, trusted: Collection[str] = ()) -> dict[str, Any] | None:
    """The mark of ``folder``; ``None`` if it is absent, unfinished or damaged.

    Every file's size is compared with the mark, and every byte but those of ``trusted`` files, which whoever reads
    them checks.
    """
    try:
        digest, _, content = (folder / MARK).read_bytes().partition(b"\n")
        if digest.decode("latin-1") != hashlib.sha256(content).hexdigest():
            return None
        mark = json.loads(content)
        for name, held in mark["files"].items():
            if (folder / name).stat().st_size != held["bytes"]:
                return None
            if name not in trusted and _checksum(folder / name) != held["crc32"]:
                return None
    except OSError:
        return None
    return mark


def remove(folder: Path) -> None:
    """Delete a folder of the cache: first it has its name no more, so that no one finds half of it."""
    away = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}-", suffix=_UNFINISHED))
    with suppress(FileNotFoundError):  # another process was faster
        folder.rename(away / folder.name)
    shutil.rmtree(away, ignore_errors=True)


def chunks(path: Path, size: int = _CHUNK) -> Iterator[bytes]:
    """The bytes of a file, ``size`` at a time: read, not mapped, so that they do not stay in memory."""
    with path.open("rb") as file:
        while chunk := file.read(size):
            yield chunk


def _checksum(path: Path) -> int:
    found = 0
    for chunk in chunks(path):
        found = zlib.crc32(chunk, found)
    return found
