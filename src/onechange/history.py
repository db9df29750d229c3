"""A run's history on disk: `metrics.jsonl`, which a resumed run repeats byte for byte, and `timing.jsonl`."""

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from onechange import atomic, digest, json_file, untrusted
from onechange.digest import Damaged, Mark


class History:
    """One JSON object a line, in the order of the steps."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def append(self, row: Mapping[str, Any]) -> None:
        """Add a row and put it on the disk."""
        with atomic.naming(self.path), self.path.open("ab") as file:
            file.write(json.dumps(row).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def rows(self) -> list[dict[str, Any]]:
        """Every whole row; a last line that a kill left unfinished is no row. A `ValueError` names a damaged line."""
        return self._parsed(self._content())

    def readable(self) -> list[dict[str, Any]]:
        """The rows of those lines that can be read."""
        found = []
        for line in self._content().split(b"\n")[:-1]:
            with suppress(ValueError):
                found.append(json_file.parse(line, str(self.path), "step"))
        return found

    def cut(self, step: int) -> None:
        """Drop what lies beyond ``step``: the run goes on from there."""
        kept = [row for row in self.rows() if row["step"] <= step]
        atomic.write(self.path, "".join(json.dumps(row) + "\n" for row in kept))

    def mark(self) -> Mark:
        """The mark of all that is written now; `as_marked` finds it again when more has been added."""
        return digest.of_bytes(self._content())

    def as_marked(self, mark: Any) -> list[dict[str, Any]]:
        """The rows that were there when ``mark`` was taken; `Damaged` if they are not as they were written."""
        length = mark.get("bytes") if isinstance(mark, dict) else None
        content = self._content()[:length] if type(length) is int else b""
        if not content or digest.of_bytes(content) != mark:
            raise Damaged(self.path, "its beginning is not what was written")
        return self._parsed(content)

    def keep(self, length: int) -> None:
        """Drop what lies beyond the first ``length`` bytes."""
        atomic.write(self.path, self._content()[:length])

    def _content(self) -> bytes:
        return untrusted.read(self.path, untrusted.LARGE) if self.path.is_file() else b""

    def _parsed(self, content: bytes) -> list[dict[str, Any]]:
        return [
            json_file.parse(line, f"{self.path}, line {number}", "step")
            for number, line in enumerate(content.split(b"\n")[:-1], 1)
        ]


def best(rows: Sequence[Mapping[str, Any]]) -> int:
    """The step of the lowest validation loss, the earliest among equals."""
    return min(rows, key=lambda row: row["validation_loss"])["step"]
