"""Two arms at equal steps, equal text, equal operations and equal time, read off the histories of their runs.

The budget ends a run by one of these measures; by the others the two arms then stand at different places. Here both
are read at the largest value that all their runs have reached, between two evaluations by a monotone cubic (PCHIP:
Fritsch and Carlson, Monotone piecewise cubic interpolation, SIAM Journal on Numerical Analysis 17, 1980) of nats per
character over the logarithm of the value, in which learning curves are nearly straight. The figures are those of the
evaluations, not the ruler's. A reading is no verdict: whether it is even fair says `at_equal`.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from jaxtyping import Float
from scipy import interpolate, special

from onechange.compare import ALPHA, SEEDS_FOR_A_VERDICT
from onechange.schedule import Schedule

Measure = Literal["steps", "characters", "operations", "seconds"]
MEASURES: tuple[Measure, ...] = get_args(Measure)
STILL_TO_FALL = 0.01
"""In shares of the peak learning rate: how much of a schedule's fall may be missing where a run is read."""
_LOOKS = 200


@dataclass(frozen=True, eq=False)
class Runs:
    """An arm's runs: rows of `metrics.jsonl` with their ``seconds`` by seed, and what its learning rate does."""

    name: str
    histories: Mapping[int, Sequence[Mapping[str, Any]]]
    schedule: Schedule | None
    """``None`` where its code is not here."""
    steps: int
    """That the schedule was made for."""


@dataclass(frozen=True)
class Reading:
    """Arm minus parent in nats per character where both have had the same; negative is better."""

    at: float
    nats_per_character_difference: float
    low: float | None
    high: float | None
    seeds: int
    arm_share: float
    """Which share of its own run the arm had done there, the mean over seeds."""
    parent_share: float
    fair: bool
    why: str | None
    """What makes it unfair and which budget would not, or what else to know; None where there is nothing to say."""


@dataclass(frozen=True, eq=False)
class _Curve:
    """A run's evaluations over one measure: values rise strictly and are positive."""

    values: Float[np.ndarray, " evaluations"]
    steps: Float[np.ndarray, " evaluations"]
    nats: Float[np.ndarray, " evaluations"]

    @property
    def end(self) -> float:
        return float(self.values[-1])

    def at(self, value: float) -> float:
        if len(self.values) == 1:
            return float(self.nats[0])
        return float(interpolate.PchipInterpolator(np.log(self.values), self.nats)(math.log(value)))

    def step(self, value: float) -> float:
        return float(np.interp(value, self.values, self.steps))


def at_equal(arm: Runs, parent: Runs, machine: str | None = None) -> dict[Measure, Reading | None] | None:
    """The readings by every measure, over the seeds that both have; None where there is no such seed.

    A reading is None where the histories hold nothing to read at a common value. From three seeds on it has a 95%
    interval, t(n − 1), over the seeds. It is unfair where a run is read while its learning rate has still to come down:
    the fall is worth more than most changes. ``machine`` is named with a reading by seconds.
    """
    seeds = sorted(arm.histories.keys() & parent.histories.keys())
    if not seeds:
        return None
    return {measure: _reading(measure, arm, parent, seeds, machine) for measure in MEASURES}


def _reading(
    measure: Measure, arm: Runs, parent: Runs, seeds: Sequence[int], machine: str | None
) -> Reading | None:
    ours, theirs = ([_curve(runs.histories[seed], measure) for seed in seeds] for runs in (arm, parent))
    mine, other = [c for c in ours if c is not None], [c for c in theirs if c is not None]
    if len(mine) < len(seeds) or len(other) < len(seeds):
        return None
    at = min(curve.end for curve in (*mine, *other))
    if any(curve.values[0] > at for curve in (*mine, *other)):
        return None
    differences = [a.at(at) - p.at(at) for a, p in zip(mine, other, strict=True)]
    low, high = _interval(differences)
    early = [_too_early(runs, curves, at) for runs, curves in ((arm, mine), (parent, other))]
    said = [words for words in early if words]
    if said:
        said[-1] += (
            f"; budget = {{ {measure} = {max(1, round(at))} }} runs both to the end of their schedules there"
        )
    if measure == "seconds":
        said.append(
            f"seconds are those of {machine or 'the machine that trained'}, on another they may differ"
        )
    return Reading(
        at=at,
        nats_per_character_difference=float(np.mean(differences)),
        low=low,
        high=high,
        seeds=len(seeds),
        arm_share=float(np.mean([at / curve.end for curve in mine])),
        parent_share=float(np.mean([at / curve.end for curve in other])),
        fair=not any(early),
        why="; ".join(said) or None,
    )


def _curve(history: Sequence[Mapping[str, Any]], measure: Measure) -> _Curve | None:
    """What can be read of a history; rows without the measure or the figure, or that do not go on, are left out."""
    key = "step" if measure == "steps" else measure
    found: list[tuple[float, float, float]] = []
    for row in history:
        value, nats = row.get(key), row.get("validation_nats_per_character")
        if value is not None and nats is not None and value > (found[-1][0] if found else 0):
            found.append((value, row["step"], nats))
    return _Curve(*np.array(found, dtype=np.float64).T) if found else None


def _interval(differences: Sequence[float]) -> tuple[float, float] | tuple[None, None]:
    n = len(differences)
    if n < SEEDS_FOR_A_VERDICT:
        return None, None
    half = float(special.stdtrit(n - 1, 1 - ALPHA / 2)) * float(np.std(differences, ddof=1)) / math.sqrt(n)
    mean = float(np.mean(differences))
    return mean - half, mean + half


def _too_early(runs: Runs, curves: Sequence[_Curve], at: float) -> str | None:
    """In words, that an arm is read where its learning rate has still to fall; None where it has not."""
    first = min(runs.steps, max(1, math.ceil(min(curve.step(at) for curve in curves))))
    if runs.schedule is None:
        return f"whether the learning rate of {runs.name} has come down there is not known, its schedule is not here"
    end = runs.schedule.share(runs.steps, runs.steps)
    rest = np.linspace(first, runs.steps, _LOOKS).round()
    shares = [runs.schedule.share(int(step), runs.steps) for step in rest]
    if max(shares) - end <= STILL_TO_FALL:
        return None
    return (
        f"{runs.name} is read at step {first:,} of {runs.steps:,}, where its learning rate is {shares[0]:.0%} of "
        f"the peak and has still to come down to {end:.0%}"
    )
