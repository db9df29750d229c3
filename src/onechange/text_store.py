"""Stories on the disk, read a block at a time: the text of a corpus that is larger than memory.

A file ``<part>.text`` is a row of blocks of about 4 MiB. A block is the lengths of its stories in characters (32 bits
each, little-endian), then their text in UTF-8. Where each block lies, and its checksum, stands in the folder's mark
(`onechange.finished`); a block is checked whenever it is read.
"""

import zlib
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, overload

import numpy as np

from onechange.finished import Writer

BLOCK = 4 << 20
"""Bytes of text after which a block ends."""
_CODE_POINTS = 0x110000


class DamagedError(ValueError):
    """The disk holds other bytes than were written."""


@dataclass(frozen=True)
class Block:
    """A stretch of whole stories in a file."""

    file: Path
    at: int
    bytes: int
    crc32: int
    first: int
    """The number of its first story, from 0."""
    count: int

    def stories(self) -> list[str]:
        """Read them. A `DamagedError` names the folder to delete."""
        with self.file.open("rb") as file:
            file.seek(self.at)
            content = file.read(self.bytes)
        if zlib.crc32(content) != self.crc32:
            raise DamagedError(
                f"{self.file.parent}: the cached text is damaged at byte {self.at:,} of {self.file.name}; "
                "delete this folder and it is made anew"
            )
        text = content[4 * self.count :].decode()
        ends = np.frombuffer(content, "<u4", self.count).astype(np.int64).cumsum().tolist()
        return [text[start:end] for start, end in zip([0, *ends], ends, strict=False)]


class Stories(Sequence[str]):
    """The stories of one part of a corpus, in order."""

    def __init__(self, folder: Path, part: str, mark: dict[str, Any]) -> None:
        """``mark``: what `StoriesWriter.finish` returned."""
        file = folder / f"{part}.text"
        self.blocks = [Block(file, *numbers) for numbers in mark["blocks"]]
        self.characters: int = mark["characters"]
        self.distinct: str = mark["distinct"]
        """The distinct characters, in the order of their code points."""
        self._firsts = [block.first for block in self.blocks]
        self._read: tuple[int, list[str]] = (-1, [])

    def __len__(self) -> int:
        return self.blocks[-1].first + self.blocks[-1].count if self.blocks else 0

    def __iter__(self) -> Iterator[str]:
        for block in self.blocks:
            yield from block.stories()

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        number = index + len(self) if index < 0 else index
        if not 0 <= number < len(self):
            raise IndexError(f"story {index} of {len(self)}")
        at = bisect_right(self._firsts, number) - 1
        if self._read[0] != at:
            self._read = (at, self.blocks[at].stories())
        return self._read[1][number - self._firsts[at]]


class StoriesWriter:
    """Writes the file ``<part>.text`` story by story."""

    def __init__(self, file: Writer) -> None:
        self._file = file
        self._blocks: list[tuple[int, ...]] = []
        self._known = np.zeros(_CODE_POINTS, dtype=bool)
        self._stories = self._characters = 0
        self._texts: list[bytes] = []
        self._lengths: list[int] = []
        self._waiting = 0

    def add(self, story: str) -> None:
        """Append one story."""
        self._texts.append(story.encode())
        self._lengths.append(len(story))
        self._waiting += len(self._texts[-1])
        if self._waiting >= BLOCK:
            self._flush()

    def finish(self) -> dict[str, Any]:
        """Put the file on the disk; returns what the mark says of the stories."""
        if self._texts:
            self._flush()
        distinct = "".join(map(chr, np.flatnonzero(self._known).tolist()))
        self._file.finish()
        return {"blocks": self._blocks, "characters": self._characters, "distinct": distinct}

    def _flush(self) -> None:
        text = b"".join(self._texts)
        codes = np.frombuffer(text, np.uint8)
        if not text.isascii():
            codes = np.frombuffer(text.decode().encode("utf-32-le"), "<u4")
        self._known[codes] = True
        content = np.array(self._lengths, dtype="<u4").tobytes() + text
        place = self._file.bytes
        self._file.write(content)
        numbers = (place, len(content), zlib.crc32(content), self._stories, len(self._texts))
        self._blocks.append(numbers)
        self._stories += len(self._texts)
        self._characters += sum(self._lengths)
        self._texts, self._lengths, self._waiting = [], [], 0
