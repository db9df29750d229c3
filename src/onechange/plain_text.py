"""Reading text as a stream: strict UTF-8, one kind of line end, stories between ``<|endoftext|>`` lines."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

END_OF_STORY = "<|endoftext|>"
_MARK = "\ufeff"
_BLOCK = 1 << 20


@dataclass
class Changes:
    """What reading changed in one file, and whether it met the separator."""

    name: str
    mark_dropped: bool = False
    line_ends_replaced: int = 0
    separators: int = 0
    separators_within_lines: int = 0

    def notes(self) -> list[str]:
        """One sentence for every kind of change."""
        notes = []
        if self.mark_dropped:
            notes.append(f"{self.name}: a byte-order mark at the beginning was dropped")
        if self.line_ends_replaced:
            notes.append(f"{self.name}: {self.line_ends_replaced:,} CRLF line ends became LF")
        if self.separators_within_lines:
            count = f"{self.separators_within_lines:,}"
            notes.append(f"{self.name}: {END_OF_STORY} within {count} lines separates nothing")
        return notes


def stamp(files: Iterable[Path]) -> dict[str, Any]:
    """Where the files lie, their bytes and when they were last changed, in nanoseconds."""
    found = [(file.resolve(), file.stat()) for file in files]
    return {"files": [[str(path), held.st_size, held.st_mtime_ns] for path, held in found]}


def blocks(path: Path) -> Iterator[bytes]:
    """The bytes of a file, a block at a time; an `OSError` says in one line why they cannot be read."""
    if path.is_dir():
        raise IsADirectoryError(f"{path}: this is a folder, a file is needed")
    try:
        file = path.open("rb")
    except FileNotFoundError:
        raise FileNotFoundError(f"{path}: there is no such file") from None
    except OSError as error:
        raise OSError(f"{path}: it cannot be read: {error.strerror}") from error
    with file:
        while block := file.read(_BLOCK):
            yield block


def decode(chunks: Iterable[bytes], changes: Changes) -> Iterator[str]:
    """Text of UTF-8 bytes however they are chunked, without a byte-order mark and with LF for CRLF.

    Raises `ValueError` that names the file and the offset of the first bad byte.
    """
    first = True
    held = ""
    for text in _strict(chunks, changes.name):
        if first and text.startswith(_MARK):
            changes.mark_dropped = True
            text = text[1:]
        first = False
        text = held + text
        # a carriage return at the end may be the first half of a CRLF
        held = "\r" if text.endswith("\r") else ""
        text = text[: len(text) - len(held)]
        changes.line_ends_replaced += text.count("\r\n")
        yield text.replace("\r\n", "\n")
    yield held


def _strict(chunks: Iterable[bytes], name: str) -> Iterator[str]:
    rest = b""
    offset = 0
    for chunk in chunks:
        data = rest + chunk
        try:
            text, rest = data.decode(), b""
        except UnicodeDecodeError as error:
            if error.reason != "unexpected end of data":
                raise _bad_byte(name, offset + error.start, data[error.start]) from None
            text, rest = data[: error.start].decode(), data[error.start :]
        offset += len(data) - len(rest)
        if text:
            yield text
    if rest:
        raise _bad_byte(name, offset, rest[0], "the file ends within a character")


def _bad_byte(name: str, offset: int, byte: int, why: str = "") -> ValueError:
    if not why:
        why = "it may be UTF-16" if offset == 0 and byte in (0xFE, 0xFF) else "it is not UTF-8 there"
    return ValueError(f"{name}: byte 0x{byte:02x} at offset {offset:,}: {why}; convert the file to UTF-8")


def lines(pieces: Iterable[str]) -> Iterator[str]:
    """Lines without their line feed; as many as there are line feeds, and one more."""
    held: list[str] = []
    for piece in pieces:
        first, *others = piece.split("\n")
        held.append(first)
        if others:
            yield "".join(held)
            yield from others[:-1]
            held = [others[-1]]
    yield "".join(held)


def stories(pieces: Iterable[str], changes: Changes) -> Iterator[str]:
    """What stands between ``<|endoftext|>`` lines, and after the last; without such a line the whole text."""
    story: list[str] = []
    for line in lines(pieces):
        if line.strip() == END_OF_STORY:
            changes.separators += 1
            yield "\n".join(story)
            story = []
        else:
            changes.separators_within_lines += END_OF_STORY in line
            story.append(line)
    yield "\n".join(story)
