"""A study of three arms that takes seconds, its folder compared file by file, and the command line in this process."""

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from onechange import cli

CHARACTERS = 40_000

STUDY = """\
question = "What do merges and rotation buy [here]?"
corpus = { name = "storyworld", characters = CHARACTERS }
prompts = ["One day, ", "The "]
demonstration = "The sun was warm."

[base]
name = "plain"
tokenizer = "character"

[[arm]]
name = "merged"
from = "plain"
change.tokenizer = { name = "bpe", vocabulary = 120 }

[[arm]]
name = "turned"
from = "merged"
change.position = "rope"

[sampling]
tokens = 24

[scale.tiny]
layers = 1
width = 16
window = 16
batch = 4
budget = { steps = 6 }
evaluate_every = 3
precision = "float32"
""".replace("CHARACTERS", str(CHARACTERS))

TIMES = ("environment.json", "timing.jsonl", "results.json", "report.html", "report.md", ".lock")
"""Files that may differ between two runs of the same study: they hold times, or where it ran."""


@dataclass(frozen=True)
class Outcome:
    """What a command left behind."""

    status: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The one JSON document of standard output."""
        return json.loads(self.out)


def onechange(*words: object) -> Outcome:
    """The command line in this process, as `main` runs it."""
    out, err = io.StringIO(), io.StringIO()
    status = 0
    with (
        patch.object(sys, "argv", ["onechange", *map(str, words)]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            cli.main()
        except SystemExit as stop:
            status = stop.code if isinstance(stop.code, int) else 0 if stop.code is None else 1
    return Outcome(status, out.getvalue(), err.getvalue())


def process(words: Sequence[object], *, program: str | None = None, **settings: Any) -> subprocess.Popen[str]:
    """The command line in a process of its own; ``program``: Python that runs before it."""
    start = ["-m", "onechange"]
    if program:
        start = ["-c", f"import sys\n{program}\nfrom onechange.cli import main\nmain()"]
    return subprocess.Popen(
        [sys.executable, *start, *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "100"},
        **settings,
    )


def study_file(folder: Path, content: str = STUDY, name: str = "small.toml") -> Path:
    """``content`` as a study file in ``folder``."""
    path = folder / name
    path.write_text(content, encoding="utf-8")
    return path


def files(folder: Path, leave_out: Sequence[str] = TIMES) -> dict[str, bytes]:
    """Every file below ``folder`` but those called as in ``leave_out``."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in leave_out
    }


def without_times(value: Any) -> Any:
    """A JSON value without what differs between two runs of the same study."""
    if isinstance(value, dict):
        return {
            key: without_times(inner)
            for key, inner in value.items()
            if key not in ("seconds", "seconds_per_step", "peak_memory_bytes", "machine", "command")
        }
    return [without_times(inner) for inner in value] if isinstance(value, list) else value
