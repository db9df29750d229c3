"""A study of three arms that takes seconds, its folder compared file by file, and the command line in this process."""

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from onechange import cli, laboratory

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


TIMED = (
    "seconds", "seconds_per_step", "tokens_per_second", "characters_per_second", "peak_memory_bytes",
    "costs", "machine", "command",
)  # fmt: skip
"""Keys of results that hold times or memory, or where and how the study ran."""


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


NURSERY = """
import json, os, sys
import onechange.verbs.running
from onechange.cli import main
exec(sys.argv[1], {})
for line in sys.stdin:
    order = json.loads(line)
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        with open(order["out"], "w") as out:
            os.dup2(out.fileno(), 1)
        os.dup2(writing, 2)  # no file: it can be read where files have no room
        os.close(reading)
        os.close(writing)
        os.environ.update(order["environment"])
        sys.argv = ["onechange", *order["words"]]
        status = 0
        try:
            exec(order["program"], {})
            main()
        except SystemExit as stop:
            status = stop.code or 0
        except BaseException:
            import traceback
            traceback.print_exc()
            status = 99
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    os.close(writing)
    with open(reading, "rb") as pipe, open(order["err"], "wb") as err:
        err.write(pipe.read())
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class Nursery:
    """A process that has everything imported already and forks once for every command: commands that may be killed."""

    def __init__(self, folder: Path, prepared: str = "") -> None:
        """``prepared``: Python that imports what a command would import late, once in every child."""
        self._folder = folder
        self._mother = subprocess.Popen(
            [sys.executable, "-c", NURSERY, prepared],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )

    def onechange(self, words: Sequence[object], program: str) -> Outcome:
        """The command in a child of its own, ``program`` (Python) before it; -9 is the status of a killed one."""
        assert self._mother.stdin and self._mother.stdout
        out, err = (self._folder / name for name in ("out", "err"))
        order = {
            "words": [*map(str, words)],
            "program": program,
            "out": str(out),
            "err": str(err),
            "environment": {key: os.environ[key] for key in ("XDG_CACHE_HOME", "COLUMNS")},
        }
        self._mother.stdin.write(json.dumps(order) + "\n")
        self._mother.stdin.flush()
        status = int(self._mother.stdout.readline())
        return Outcome(status, out.read_text(), err.read_text())

    def close(self) -> None:
        """End the process."""
        assert self._mother.stdin and self._mother.stdout
        self._mother.stdin.close()
        self._mother.wait(60)
        self._mother.stdout.close()


@contextlib.contextmanager
def in_haste(cache: Path, columns: int = 100) -> Iterator[None]:
    """A cache and a terminal's width of its own; no waiting for the disk, and no page, which takes seconds to draw."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(cache))
        patch.setenv("COLUMNS", str(columns))
        patch.setattr(os, "fsync", lambda file: None)
        patch.setattr(laboratory.report, "write", lambda folder: None)
        yield


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
        return {key: without_times(inner) for key, inner in value.items() if key not in TIMED}
    return [without_times(inner) for inner in value] if isinstance(value, list) else value
