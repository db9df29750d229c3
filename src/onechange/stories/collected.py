"""What `results.json` says of the stories of a study: figures, differences, and which measure goes with the loss.

Stories of one checkpoint come as `onechange.written` writes them: `onechange.stories.measured.Measured.to_json` with,
where the corpus's world is known, the same of the world under ``world``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from onechange import holm
from onechange.compare import ALPHA
from onechange.stories import intervals
from onechange.stories.intervals import Checkpoint, Difference, Figure
from onechange.stories.loss_tracking import Level, Point, tracking
from onechange.stories.measures import ALL, WORLD

Written = Mapping[str, Any]


@dataclass(frozen=True)
class Run:
    """The stories of one run's two checkpoints, with their steps and losses."""

    seed: int
    step: Mapping[str, int]
    """By ``best`` and ``last``, as the others."""
    nats_per_character: Mapping[str, float]
    written: Mapping[str, Written]

    @property
    def goes_on(self) -> bool:
        """Whether its last checkpoint is another one than its best."""
        return self.step["last"] != self.step["best"]


def check(written: Written) -> None:
    """Raise a `ValueError` unless every story has a count and a prompt, and no share is more than the whole."""
    for part in [written, *([written["world"]] if "world" in written else [])]:
        stories = part["stories"]
        if len(part["prompts"]) != stories:
            raise ValueError(f"{stories} stories have {len(part['prompts'])} prompts")
        for name, counted in part["measures"].items():
            counts, of = counted["counts"], counted["of"]
            if not len(counts) == len(of) == stories:
                raise ValueError(f"{name}: {stories} stories have {len(counts)} counts of {len(of)}")
            yes_or_no = name in ALL and ALL[name].unit == "share of stories"
            if yes_or_no and any(not 0 <= count <= most for count, most in zip(counts, of, strict=True)):
                raise ValueError(
                    f"{name}: it is a share, but some count is not between 0 and what it is out of"
                )


def figures(written: Written) -> dict[str, dict[str, Any]]:
    """Every measure of one checkpoint, with its interval."""
    return {measure: _figure(found, "stories") for measure, found in _figures(written).items()}


def of_arm(
    runs: Sequence[Run], parent: Sequence[Run], *, unjudged: str | None = None
) -> dict[str, Any] | None:
    """The figures of an arm over its seeds, and its differences; None where none of its runs was measured.

    ``parent``: the runs of its parent, none for a base. ``unjudged``: what is said of differences to the parent in the
    place of a verdict, where there can be none.
    """
    if not runs:
        return None
    of_parent = {run.seed: run for run in parent}
    pairs = [(run, of_parent[run.seed]) for run in runs if run.seed in of_parent]
    later = [run for run in runs if run.goes_on]
    return {
        "best": _over_seeds([run.written["best"] for run in runs]),
        "last": _over_seeds([run.written["last"] for run in runs]),
        "versus_parent": _differences(_at(pairs, "best"), unjudged),
        "versus_parent_last": _differences(_at(pairs, "last"), unjudged),
        "last_versus_best": _differences([(run.written["last"], run.written["best"]) for run in later]),
    }


def tracked(arms: Mapping[str, Sequence[Run]]) -> dict[str, Any] | None:
    """How every measure goes with the loss over the checkpoints of all ``arms``; None where nothing was measured."""
    points: dict[str, list[Point]] = {}
    for arm, runs in arms.items():
        for run in runs:
            for which in ("best", "last") if run.goes_on else ("best",):
                for measure, found in _figures(run.written[which]).items():
                    if found is not None:
                        loss = run.nats_per_character[which]
                        points.setdefault(measure, []).append(Point(arm, run.seed, which, loss, found.value))
    return {measure: _tracking(some) for measure, some in points.items()} or None


def _part(written: Written, measure: str) -> Checkpoint | None:
    """The stories that a measure is of; None where they were not measured by it."""
    part = written.get("world", {}) if measure in WORLD else written
    return {"measures": part} if measure in part.get("measures", {}) else None


def _figures(written: Written) -> dict[str, Figure | None]:
    parts = {measure: _part(written, measure) for measure in ALL}
    return {measure: intervals.figure(part, measure) for measure, part in parts.items() if part is not None}


def _over_seeds(written: Sequence[Written]) -> dict[str, dict[str, Any]]:
    found = {}
    for measure in ALL:
        parts = [part for one in written if (part := _part(one, measure)) is not None]
        if parts:
            found[measure] = _figure(intervals.over_seeds(parts, measure), "seeds")
    return found


def _figure(found: Figure | None, count: str) -> dict[str, Any]:
    """``count``: what it is to be said to be of how many, ``stories`` or ``seeds``."""
    if found is None:
        return {"figure": None, "low": None, "high": None, count: 0, "interval": "nothing"}
    return {
        "figure": found.value,
        "low": found.low,
        "high": found.high,
        count: getattr(found, count),
        "interval": found.interval,
    }


def _at(pairs: Sequence[tuple[Run, Run]], which: str) -> list[tuple[Written, Written]]:
    return [(one.written[which], other.written[which]) for one, other in pairs]


def _differences(
    pairs: Sequence[tuple[Written, Written]], unjudged: str | None = None
) -> dict[str, dict[str, Any]] | None:
    """Of every measure that some seed has on both sides; their p-values are corrected for each other."""
    found: dict[str, Difference] = {}
    for measure in ALL:
        both = [
            (ours, theirs)
            for one, other in pairs
            if (ours := _part(one, measure)) is not None and (theirs := _part(other, measure)) is not None
        ]
        ours, theirs = [one for one, _ in both], [other for _, other in both]
        if difference := intervals.difference(ours, theirs, measure):
            found[measure] = difference
    p = {} if unjudged else {measure: one.p for measure, one in found.items() if one.p is not None}
    adjusted = holm.adjusted(p)
    return {
        measure: {
            "difference": one.value,
            "low": one.low,
            "high": one.high,
            "seeds": one.seeds,
            "interval": one.interval,
            "p": p.get(measure),
            "p_holm": adjusted.get(measure),
            "verdict": unjudged or (one.word if adjusted.get(measure, 0.0) < ALPHA else "no difference seen"),
        }
        for measure, one in found.items()
    } or None


def _tracking(points: Sequence[Point]) -> dict[str, Any]:
    found = tracking(points)
    return {
        "points": found.checkpoints,
        "all": found.correlation,
        "between_arms": _level(found.between_arms),
        "within_arms": _level(found.between_seeds),
        "within_runs": _level(found.between_checkpoints),
    }


def _level(level: Level) -> dict[str, Any] | None:
    return None if level.correlation is None else {"rho": level.correlation, "p": level.p}
