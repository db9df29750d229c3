"""A finished run as its folder tells of it, without its model: recipe, the ruler's figures, how it was made."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NotRequired

import msgspec
import numpy as np

from onechange import json_file, shapes, untrusted
from onechange.checkpoint import Which
from onechange.compare import Scores
from onechange.history import History
from onechange.judging import Text
from onechange.recipe import Recipe

Version = shapes.Count | Annotated[str, msgspec.Meta(pattern=r"^sha256 [0-9a-f]{64}$|, version \d+$")]
"""A number; of a file its SHA-256, of what a package brings the package's version too (`onechange.family.version`)."""


class Made(shapes.Environment):
    """`environment.json`, as far as two runs are compared by it."""

    components: NotRequired[dict[str, Version]]
    processes: NotRequired[shapes.Positive]


@dataclass(frozen=True, eq=False)
class FinishedRun:
    """``scores`` and ``figures`` are of one checkpoint on ``text``; ``environment`` is ``None`` where there is none."""

    folder: Path
    recipe: Recipe
    figures: Mapping[str, Any]
    scores: Scores
    environment: Mapping[str, Any] | None
    left_out: int
    """Steps whose update was left out, since a loss or gradient was not finite."""
    text: Text
    tested: bool
    """Whether it was measured on a test text too."""

    @property
    def components(self) -> Mapping[str, int | str] | None:
        """The version of every family's member, where it is recorded."""
        return self.environment.get("components") if self.environment else None

    @property
    def keeps_checkpoints(self) -> bool:
        """Whether best and last checkpoint are still there."""
        return all((self.folder / "checkpoints" / f"{which}.json").is_file() for which in ("best", "last"))


def below(folder: Path) -> tuple[list[Path], list[Path]]:
    """The finished runs that ``folder`` stands for, a run or all of an arm's, and those of the arm that are not.

    A `LookupError` says that it is neither, a `ValueError` that nothing in it is finished.
    """
    if not folder.is_dir():
        raise LookupError(f"{folder}: no such folder; a run is OUT/arms/ARM/seed-N, an arm OUT/arms/ARM")
    untrusted.stay_inside(folder)
    if (folder / "recipe.toml").is_file():
        if trouble := _trouble(folder):
            raise ValueError(f"{folder} {trouble}")
        return [folder], []
    seeds = [path for path in folder.glob("seed-*") if path.name.removeprefix("seed-").isdecimal()]
    seeds.sort(key=lambda path: int(path.name.removeprefix("seed-")))
    if not seeds:
        advice = f"; name arms of it, {folder}/arms/ARM" if (folder / "arms").is_dir() else ""
        raise LookupError(
            f"{folder} is neither a run nor an arm: it has no recipe.toml and no folder seed-N{advice}"
        )
    finished = [path for path in seeds if not _trouble(path)]
    if not finished:
        raise ValueError(f"{folder} has no finished run: {seeds[0].name} {_trouble(seeds[0])}")
    return finished, [path for path in seeds if path not in finished]


def _trouble(run: Path) -> str | None:
    """Why the run is not finished, in words that go on after its name."""
    if (run / "failure.json").is_file():
        failure = json_file.read(run / "failure.json", most=untrusted.SMALL)
        shapes.fit(failure, shapes.Failure, run / "failure.json")
        return f"has failed: {failure['error']}"
    if not (run / "measures.json").is_file() or not (run / "recipe.toml").is_file():
        return "is not finished: it has no measures.json; `onechange run --resume` finishes it"
    return None


def read(folder: Path, which: Which, text: Text = "validation") -> FinishedRun:
    """The run at a checkpoint on a ``text`` that it was measured on; a `ValueError` names a file that is no good."""
    recipe = Recipe.read(folder / "recipe.toml")
    path = folder / "measures.json"
    measures = json_file.read(path)
    shapes.fit(measures, shapes.Measures, path)
    figures = measures[which]
    tested = "test" in figures
    if text == "test":
        figures = {**figures["test"], "step": figures["step"]}
    stories = figures["stories"]
    try:
        scores = Scores(np.array(stories["nats"], dtype=np.float64), np.array(stories["characters"]))
        if len(stories["bytes"]) != len(stories["nats"]):
            raise ValueError(f"{len(stories['nats'])} stories have nats and {len(stories['bytes'])} bytes")
    except ValueError as error:
        raise ValueError(f"{path} is damaged: {error}") from None
    times = History(folder / "timing.jsonl").rows()
    shapes.fit(times, list[shapes.Times], folder / "timing.jsonl")
    left_out = max((row.get("left_out", 0) for row in times), default=0)
    return FinishedRun(folder, recipe, figures, scores, _environment(folder), left_out, text, tested)


def _environment(folder: Path) -> dict[str, Any] | None:
    path = folder / "environment.json"
    if not path.is_file():
        return None
    found = json_file.read(path, most=untrusted.SMALL)
    shapes.fit(found, Made, path)
    return found
