"""A study's folder as the report reads it: `results.json`, the scores by story, the samples."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from onechange import json_file, shapes, untrusted
from onechange.compare import Over, Scores, level

FORMAT = 1
Point = Literal["best", "last"]
POINTS: tuple[Point, ...] = ("best", "last")
Text = Literal["validation", "test"]
JUDGED = ("better", "worse", "no difference seen")


@dataclass(frozen=True)
class Figure:
    """An arm's nats per character, the mean over its seeds, with its 95% interval and its spread over them.

    ``interval`` says what ``low`` and ``high`` allow for. ``spread`` is a standard deviation, None below two seeds.
    """

    nats_per_character: float
    low: float | None
    high: float | None
    interval: Over
    seeds: int
    spread: float | None = None


@dataclass(frozen=True, eq=False)
class Arm:
    """One arm: its entry in `results.json`, its place among the arms, and its figures over seeds.

    ``text`` is the one that the study is judged on: figures and differences are of it where no other is named.
    """

    record: dict[str, Any]
    index: int
    text: Text
    figures: dict[tuple[Text, Point], Figure]

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

    @property
    def best(self) -> Figure | None:
        return self.figure("best")

    @property
    def last(self) -> Figure | None:
        return self.figure("last")

    def figure(self, point: Point, text: Text | None = None) -> Figure | None:
        return self.figures.get((text or self.text, point))

    def versus(self, point: Point) -> dict[str, Any] | None:
        """The recorded difference to the parent, as in `results.json`."""
        parts = ("versus_parent", "test" * (self.text == "test"), "last" * (point == "last"))
        return self.record.get("_".join(part for part in parts if part))

    def scored(self, point: Point, text: Text | None = None) -> list[dict[str, Any]]:
        """The runs that have a figure at ``point``."""
        found = [(run, measured(run, point, text or self.text)) for run in self.runs]
        return [run for run, figures in found if figures.get("nats_per_character") is not None]

    def steps_at(self, point: Point) -> list[int]:
        return [run[point]["step"] for run in self.scored(point)]

    @property
    def pending(self) -> bool:
        """Whether runs are still to come to their end, and none has failed."""
        states = {run.get("status") for run in self.runs}
        return "failed" not in states and (not self.runs or not states.isdisjoint({"running", "missing"}))

    @property
    def trouble(self) -> str | None:
        """Why the arm has no figure, or fewer runs than it should, as a predicate; None where all is well."""
        failed = [run for run in self.runs if run.get("status") == "failed"]
        if failed:
            seeds = ", ".join(str(run.get("seed")) for run in failed)
            return f"failed (seed {seeds}): {failed[0].get('error') or 'no reason was recorded'}"
        open_runs = [run for run in self.runs if run.get("status") in ("running", "missing")]
        if self.pending:
            running = [run for run in open_runs if run.get("status") == "running"]
            if running:
                done, steps = running[0].get("steps") or 0, self.record.get("steps")
                return f"has not finished: at step {done:,}" + (f" of {steps:,}" if steps else "")
            seeds = [str(run.get("seed")) for run in open_runs]
            if len(seeds) == len(self.runs):
                return "has not run"
            return f"has not run with {'seed' if len(seeds) == 1 else 'seeds'} {', '.join(seeds)}"
        if not self.lossless:
            return "has no nats per character: its tokens do not give the text back"
        return None if self.best else f"has no figure: it was never measured on {self.text} text"


@dataclass(frozen=True, eq=False)
class Study:
    """What a report is made of."""

    folder: Path
    record: dict[str, Any]
    arms: tuple[Arm, ...]
    judged_on: Text

    @property
    def question(self) -> str:
        return str(self.record.get("question") or self.record.get("study") or "What did the change buy?")

    @property
    def corpus(self) -> dict[str, Any]:
        return self.record.get("corpus") or {}

    @property
    def floor(self) -> float | None:
        """The true entropy of the text that is judged on, in nats per character, where it is known."""
        return (
            self.validation_floor if self.judged_on == "validation" else self.record.get("entropy_floor_test")
        )

    @property
    def validation_floor(self) -> float | None:
        """The same of the validation text, which the curves are of."""
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
        """The first story that one run wrote after each prompt, at ``point``; empty where it wrote none."""
        path = self._run_folder(arm.name, seed) / "samples" / f"{point}.jsonl"
        if not path.is_file():
            return []
        lines = untrusted.read(path, untrusted.LARGE).split(b"\n")
        found = [json_file.parse(line, str(path)) for line in lines if line.strip()]
        shapes.fit(found, list[shapes.Sample], path)
        return [line for line in found if line.get("number", 0) == 0]

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
    return parsed(folder, untrusted.read(path, untrusted.LARGE))


def parsed(folder: Path, content: str | bytes) -> Study:
    """The study in ``folder`` with ``content`` in place of its `results.json`. Raises as `read` does."""
    path = folder / "results.json"
    try:
        # A loss that was not finite is no figure: NaN and Infinity are read as missing.
        record = json.loads(content, parse_constant=lambda _: None)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not JSON ({error}); `onechange run --resume` writes it anew") from None
    if not isinstance(record, dict) or not isinstance(record.get("arms"), list):
        raise ValueError(f"{path} has no list of arms; `onechange run --resume` writes it anew")
    if record.get("format", FORMAT) != FORMAT:
        raise ValueError(f"{path} has format {record['format']!r}, this version of onechange reads {FORMAT}")
    text = _judged_on(record["arms"])
    return Study(folder, record, tuple(_arms(folder, record["arms"], text)), text)


def measured(run: dict[str, Any], point: Point, text: Text) -> dict[str, Any]:
    """The ruler's figures of one run on one text; empty where it has none."""
    found = run.get(point) or {}
    return found if text == "validation" else found.get("test") or {}


def _judged_on(arms: list[dict[str, Any]]) -> Text:
    """The test text where differences on it are recorded, or where it is all that there is to compare later."""
    if any(arm.get("versus_parent_test") for arm in arms):
        return "test"
    runs = [run for arm in arms for run in arm.get("runs") or []]
    compared = any(arm.get("versus_parent") for arm in arms)
    return "test" if not compared and any(measured(run, "best", "test") for run in runs) else "validation"


def _arms(folder: Path, records: list[dict[str, Any]], judged_on: Text) -> Iterator[Arm]:
    texts: tuple[Text, ...] = ("validation", "test")
    for index, record in enumerate(records):
        arm = Arm(record, index, judged_on, {})
        for text in texts:
            for point in POINTS:
                if (found := _figure(folder, arm, point, text)) is not None:
                    arm.figures[text, point] = found
        yield arm


def _figure(folder: Path, arm: Arm, point: Point, text: Text) -> Figure | None:
    """The figure over seeds as results.json has it; in an older one, made from the runs and their scores by story."""
    over = (arm.record.get("over_seeds") or {}).get(point if text == "validation" else f"{point}_test")
    if over:
        spread = over.get("spread")
        return Figure(over["mean"], over["low"], over["high"], over["interval"], over["seeds"], spread)
    runs = arm.scored(point, text)
    if not runs:
        return None
    figures = [measured(run, point, text) for run in runs]
    mean = float(np.mean([found["nats_per_character"] for found in figures]))
    if len(runs) == 1:
        low, high = figures[0].get("low"), figures[0].get("high")
        return Figure(mean, low, high, "nothing" if low is None else "text", 1)
    places = [folder / "arms" / arm.name / f"seed-{run['seed']}" / "measures.json" for run in runs]
    whole = [scores for path in places if (scores := _scores(path, point, text)) is not None]
    if len(whole) < len(runs):
        return Figure(mean, None, None, "nothing", len(runs))
    found = level(whole)
    return Figure(mean, found.low, found.high, found.interval, len(runs))


def _scores(path: Path, point: Point, text: Text) -> Scores | None:
    if not path.is_file():
        return None
    stories = measured(json_file.read(path), point, text).get("stories")
    if not stories:
        return None
    return Scores(np.array(stories["nats"], dtype=np.float64), np.array(stories["characters"]))
