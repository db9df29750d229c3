"""A run's history on disk: `metrics.jsonl`, which a resumed run repeats byte for byte, and `timing.jsonl`."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from onechange import atomic, json_file


class History:
    """One JSON object a line, in the order of the steps."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def append(self, row: Mapping[str, Any]) -> None:
        """Add a row and put it on the disk."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def rows(self) -> list[dict[str, Any]]:
        """Every whole row; a last line that a kill left unfinished is no row. A `ValueError` names a damaged line."""
        if not self.path.is_file():
            return []
        lines = self.path.read_bytes().split(b"\n")[:-1]
        return [
            json_file.parse(line, f"{self.path}, line {number}", "step")
            for number, line in enumerate(lines, 1)
        ]

    def cut(self, step: int) -> None:
        """Drop what lies beyond ``step``: the run goes on from there."""
        kept = [row for row in self.rows() if row["step"] <= step]
        atomic.write(self.path, "".join(json.dumps(row) + "\n" for row in kept))
