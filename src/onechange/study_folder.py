"""The folder of a study: where everything lies, how it was started, and the lock that keeps two processes apart."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import msgspec

from onechange import atomic, family, json_file, os_lock, outside, shapes, study_file, untrusted
from onechange.outside import Declared
from onechange.plan import Means, Plan
from onechange.recipe import Device
from onechange.study import Study

FORMAT = 1
TRIES = 5
"""To hold a study: who only looks whether it runs (`run_lock.is_locked`) holds it too, for an instant."""


class Start(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a study was first started; `start.json`. Seeds and arms may be added, this stays."""

    scale: str
    source: dict[str, Any]
    threads: int
    precision: Literal["bf16", "float32"]
    compile: bool
    study: str
    """What the person called it: a built-in study's name or a file's."""
    command: str
    """The command that repeats it."""
    device: Device = "cpu"
    seconds_per_step: dict[str, float] = {}
    """Of every arm as it was timed then, where the budget is one of seconds."""
    outside: list[Declared] = []
    """What is to be known of members from outside without their code."""
    format: int = FORMAT


class StudyFolder:
    """Paths and the few files that belong to the study as a whole."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def exists(self) -> bool:
        """Whether a study lies here."""
        return (self.path / "start.json").is_file()

    def run(self, arm: str, seed: int) -> Path:
        """The folder of one run."""
        return self.path / "arms" / arm / f"seed-{seed}"

    def seeds(self, arm: str) -> list[int]:
        """The seeds of the arm that have a folder, in order."""
        found = (self.path / "arms" / arm).glob("seed-*")
        numbers = [folder.name.removeprefix("seed-") for folder in found]
        return sorted(int(number) for number in numbers if number.isdecimal())

    def all_seeds(self) -> list[int]:
        """Every seed that any arm has a folder for, in order."""
        names = self.study().run_names(self.start().scale)
        return sorted({seed for arm in names for seed in self.seeds(arm)})

    def begin(self, plan: Plan, content: bytes, word: str, command: str) -> None:
        """Write the study file as it was given, and how it was started."""
        self.path.mkdir(parents=True, exist_ok=True)
        atomic.write(self.path / "study.toml", content)
        start = Start(
            scale=plan.scale,
            source=dict(plan.source),
            threads=plan.chosen.threads,
            precision=plan.chosen.precision,
            compile=plan.chosen.compile,
            study=Path(word).stem,
            command=command,
            device=plan.chosen.device,
            seconds_per_step=dict(plan.seconds_per_step),
            outside=plan.outside,
        )
        atomic.write(
            self.path / "start.json", msgspec.json.format(msgspec.json.encode(start), indent=1) + b"\n"
        )

    def start(self) -> Start:
        """What `begin` wrote; members from outside are from now on known as it tells of them.

        A `LookupError` says that no study lies here, a `ValueError` that it cannot be read.
        """
        path = self.path / "start.json"
        if not path.is_file():
            raise LookupError(f"{self.path} holds no study: no {path.name} in it")
        untrusted.stay_inside(self.path)
        try:
            start = msgspec.json.decode(untrusted.read(path, untrusted.SMALL), type=Start)
            if start.format != FORMAT:
                raise ValueError(f"its format is {start.format}, this onechange reads format {FORMAT}")
            outside.declare(start.outside)
            return msgspec.structs.replace(start, source=family.resolve("corpus", start.source))
        except RecursionError:
            raise ValueError(f"{path} cannot be read: it is nested too deeply") from None
        except (msgspec.MsgspecError, ValueError, LookupError) as error:
            raise ValueError(f"{path} cannot be read: {error.args[0]}") from None

    def study(self) -> Study:
        """The study file that was copied here."""
        return study_file.read(self.path / "study.toml")

    def plan(self, seeds: list[int], arms: list[str] | None) -> Plan:
        """The plan of the study in this folder, with the means it was started with."""
        start, found = self.start(), self.study()
        means = Means(start.threads, start.precision, start.compile, start.device)
        names = arms or found.names(start.scale)
        timed = start.seconds_per_step
        return Plan(found, start.scale, start.source, seeds, names, means, seconds_per_step=timed)

    def corpus(self) -> dict[str, Any]:
        """The content of `corpus.json`."""
        found = json_file.read(self.path / "corpus.json")
        shapes.fit(found, shapes.Corpus, self.path / "corpus.json")
        return found

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the study; a `BlockingIOError` says that another process does. The lock ends with its process."""
        self.path.mkdir(parents=True, exist_ok=True)
        untrusted.stay_inside(self.path)
        with (self.path / ".lock").open("ab") as file:
            for left in reversed(range(TRIES)):
                if os_lock.take(file):
                    break
                if not left:
                    raise BlockingIOError(f"{self.path} is in use: another process runs this study")
                time.sleep(0.02)
            yield
