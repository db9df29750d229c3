"""A study's folder as the report reads it: `results.json`, the scores by story, the samples."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from onechange import json_file, shapes, untrusted
from onechange.compare import Level, Scores, level

FORMAT = 1
Point = Literal["best", "last"]
POINTS: tuple[Point, ...] = ("best", "last")
JUDGED = ("better", "worse", "no difference seen")


@dataclass(frozen=True, eq=False)
class Arm:
    """One arm: its entry in `results.json`, its place among the arms, and its figures over seeds."""

    record: dict[str, Any]
    index: int
    best: Level | None
    last: Level | None

    @property
    def name(self) -> str:
        return str(self.record["name"])

    @property
    def parent(self) -> str | None:
        return self.record.get("from")

    @property
    def runs(self) -> list[dict[str, Any]]:
        return self.record.get("runs") or []

    @property
    def lossless(self) -> bool:
        return self.record.get("lossless", True)

    @property
    def peeking(self) -> bool:
        return self.record.get("peeking", False)

    def level(self, point: Point) -> Level | None:
        return self.best if point == "best" else self.last

    def versus(self, point: Point) -> dict[str, Any] | None:
        """The recorded difference to the parent, as in `results.json`."""
        return self.record.get("versus_parent" if point == "best" else "versus_parent_last")

    def scored(self, point: Point) -> list[dict[str, Any]]:
        """The runs that have a figure at ``point``."""
        return [run for run in self.runs if (run.get(point) or {}).get("nats_per_character") is not None]

    def steps_at(self, point: Point) -> list[int]:
        return [run[point]["step"] for run in self.scored(point)]

    @property
    def trouble(self) -> str | None:
        """Why the arm has no figure, or fewer runs than it should, as a predicate; None where all is well."""
        failed = [run for run in self.runs if run.get("status") == "failed"]
        if failed:
            seeds = ", ".join(str(run.get("seed")) for run in failed)
            return f"failed (seed {seeds}): {failed[0].get('error') or 'no reason was recorded'}"
        open_runs = [run for run in self.runs if run.get("status") in ("running", "missing")]
        if open_runs or not self.runs:
            running = [run for run in open_runs if run.get("status") == "running"]
            if running:
                done, steps = running[0].get("steps") or 0, self.record.get("steps")
                return f"has not finished: at step {done:,}" + (f" of {steps:,}" if steps else "")
            return "has not run"
        if not self.lossless:
            return "has no nats per character: its tokens do not give the text back"
        return None if self.best else "has no figure: it was never measured on validation text"


@dataclass(frozen=True, eq=False)
class Study:
    """What a report is made of."""

    folder: Path
    record: dict[str, Any]
    arms: tuple[Arm, ...]

    @property
    def question(self) -> str:
        return str(self.record.get("question") or self.record.get("study") or "What did the change buy?")

    @property
    def corpus(self) -> dict[str, Any]:
        return self.record.get("corpus") or {}

    @property
    def floor(self) -> float | None:
        """The true entropy of the validation text in nats per character, where it is known."""
        return self.record.get("entropy_floor")

    @property
    def finished(self) -> bool:
        return self.record.get("status", "finished") == "finished"

    @property
    def seeds(self) -> list[int]:
        return sorted({run["seed"] for arm in self.arms for run in arm.runs})

    @property
    def has_validation(self) -> bool:
        return bool(self.corpus.get("validation_characters", 1))

    def arm(self, name: str) -> Arm:
        return next(arm for arm in self.arms if arm.name == name)

    def changed(self) -> list[Arm]:
        return [arm for arm in self.arms if arm.parent is not None]

    def samples(self, arm: Arm, seed: int, point: Point) -> list[dict[str, Any]]:
        """The stories that one run wrote at ``point``; empty where it wrote none."""
        path = self._run_folder(arm.name, seed) / "samples" / f"{point}.jsonl"
        if not path.is_file():
            return []
        lines = untrusted.read(path, untrusted.LARGE).split(b"\n")
        found = [json_file.parse(line, str(path)) for line in lines if line.strip()]
        shapes.fit(found, list[shapes.Sample], path)
        return found

    def _run_folder(self, arm: str, seed: int) -> Path:
        return self.folder / "arms" / arm / f"seed-{seed}"


def read(folder: Path) -> Study:
    """Read a study's folder.

    Raises a `FileNotFoundError` where there is no `results.json` and a `ValueError` where it is not
    one that this version understands.
    """
    path = folder / "results.json"
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file; `onechange run --out {folder}` writes it")
    try:
        # A loss that was not finite is no figure: NaN and Infinity are read as missing.
        record = json.loads(untrusted.read(path, untrusted.LARGE), parse_constant=lambda _: None)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not JSON ({error}); `onechange run --resume` writes it anew") from None
    if not isinstance(record, dict) or not isinstance(record.get("arms"), list):
        raise ValueError(f"{path} has no list of arms; `onechange run --resume` writes it anew")
    if record.get("format", FORMAT) != FORMAT:
        raise ValueError(f"{path} has format {record['format']!r}, this version of onechange reads {FORMAT}")
    return Study(folder, record, tuple(_arms(folder, record["arms"])))


def _arms(folder: Path, records: list[dict[str, Any]]) -> Iterator[Arm]:
    for index, record in enumerate(records):
        arm = Arm(record, index, None, None)
        yield Arm(record, index, *(_level(folder, arm, point) for point in POINTS))


def _level(folder: Path, arm: Arm, point: Point) -> Level | None:
    """The mean over seeds as results.json has it, with the interval that the scores by story allow."""
    runs = arm.scored(point)
    if not runs:
        return None
    mean = float(np.mean([run[point]["nats_per_character"] for run in runs]))
    if len(runs) == 1:
        low, high = runs[0][point].get("low"), runs[0][point].get("high")
        return Level(mean, low, high, "nothing" if low is None else "text", 1)
    scores = [
        _scores(folder / "arms" / arm.name / f"seed-{run['seed']}" / "measures.json", point) for run in runs
    ]
    whole = [found for found in scores if found is not None]
    if len(whole) < len(runs):
        return Level(mean, None, None, "nothing", len(runs))
    found = level(whole)
    return Level(mean, found.low, found.high, found.interval, len(runs))


def _scores(path: Path, point: Point) -> Scores | None:
    if not path.is_file():
        return None
    stories = (json_file.read(path).get(point) or {}).get("stories")
    if not stories:
        return None
    return Scores(np.array(stories["nats"], dtype=np.float64), np.array(stories["characters"]))
