"""A run's history on disk: `metrics.jsonl`, which a resumed run repeats byte for byte, and `timing.jsonl`."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from onechange import atomic


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
        """Every whole row; a last line that a kill left unfinished is no row."""
        if not self.path.is_file():
            return []
        lines = self.path.read_text(encoding="utf-8").splitlines(keepends=True)
        return [json.loads(line) for line in lines if line.endswith("\n")]

    def cut(self, step: int) -> None:
        """Drop what lies beyond ``step``: the run goes on from there."""
        kept = [row for row in self.rows() if row["step"] <= step]
        atomic.write(self.path, "".join(json.dumps(row) + "\n" for row in kept))
