"""Which measures of stories go with the loss, over the checkpoints of a study.

Checkpoints of one run are not independent, nor are runs of one arm, so one correlation over all of them has no honest
p. It is given, Spearman's ρ, as a description; and the question is asked at three levels, each with a p of its own:

- *between arms*: of the arms' means, does the one with the greater loss have the greater measure?
- *between seeds*: among the runs of one arm, at the same checkpoint?
- *between checkpoints*: among the checkpoints of one run?

At each level ranks are taken within the block that is compared (the study; an arm at one checkpoint; a run), and ρ is
the correlation of all these ranks. p is how often it is as far from 0 when what is compared is exchanged at random
within its block: the arms, the runs of an arm with all their checkpoints, the checkpoints of a run. That asks for no
more than that they might be exchanged if the measure had nothing to do with the loss (a permutation test within blocks:
Good, Permutation, Parametric and Bootstrap Tests of Hypotheses, 3rd ed., 2005). Three arms have six orders, so the p
between them is never below 1/3: three arms cannot show it.
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

EXCHANGES = 9999
"""Random exchanges that a p is read off; one more is how things are."""


@dataclass(frozen=True)
class Point:
    """One checkpoint of a study, as one measure sees it."""

    arm: str
    seed: int
    checkpoint: str
    """Such as ``best`` or ``last``."""
    nats_per_character: float
    figure: float


@dataclass(frozen=True)
class Level:
    """One of the three questions. ``correlation`` and ``p`` are None where nothing can be compared or all is alike."""

    correlation: float | None
    p: float | None
    blocks: int
    """Within how many blocks."""
    compared: int
    """How many arms, runs or checkpoints are compared in all."""


@dataclass(frozen=True)
class Tracking:
    """How a measure goes with the loss. Above 0: with a greater loss it is greater."""

    correlation: float | None
    """Spearman's ρ over all checkpoints, without a p."""
    checkpoints: int
    between_arms: Level
    between_seeds: Level
    between_checkpoints: Level


def tracking(points: Sequence[Point]) -> Tracking:
    """Over ``points``, each checkpoint once. Runs of an arm are compared at the checkpoints that all of them have."""
    arms, runs = defaultdict[str, list[Point]](list), defaultdict[tuple[str, int], list[Point]](list)
    for point in points:
        arms[point.arm].append(point)
        runs[point.arm, point.seed].append(point)
    means = np.array([_values(some).mean(axis=0) for some in arms.values()]).reshape(-1, 1, 2)
    return Tracking(
        correlation=_level([_values(points)], exchanges=0).correlation,
        checkpoints=len(points),
        between_arms=_level([means]),
        between_seeds=_level([_seeds(some) for some in arms.values()]),
        between_checkpoints=_level([_values(some) for some in runs.values()]),
    )


def _values(points: Sequence[Point]) -> Float[np.ndarray, "points 1 2"]:
    """Loss and figure of each."""
    return np.array([[(point.nats_per_character, point.figure)] for point in points]).reshape(-1, 1, 2)


def _seeds(points: Sequence[Point]) -> Float[np.ndarray, "seeds checkpoints 2"]:
    """The same of one arm, a row for each of its runs."""
    of_run = defaultdict[int, dict[str, Point]](dict)
    for point in points:
        of_run[point.seed][point.checkpoint] = point
    shared = [name for name in next(iter(of_run.values())) if all(name in run for run in of_run.values())]
    rows = [_values([run[name] for name in shared]) for run in of_run.values()]
    return np.stack(rows).reshape(len(rows), len(shared), 2)


def _level(blocks: Sequence[Float[np.ndarray, "_ _ 2"]], exchanges: int = EXCHANGES) -> Level:
    """What is compared are the rows of a block, at each of its places."""
    ranks = [_ranks(block) for block in blocks if len(block) > 1 and block.size]
    centred = [rank - rank.mean(axis=0) for rank in ranks]
    losses, figures = [rank[..., 0] for rank in centred], [rank[..., 1] for rank in centred]
    compared = sum(map(len, ranks))
    norm = math.sqrt(sum(float((x**2).sum()) for x in losses) * sum(float((y**2).sum()) for y in figures))
    if not norm:
        return Level(None, None, len(ranks), compared)
    seen = sum(float((x * y).sum()) for x, y in zip(losses, figures, strict=True))
    rng = np.random.default_rng(0)
    chance = np.zeros(exchanges)
    for x, y in zip(losses, figures, strict=True):
        orders = rng.random((exchanges, len(y))).argsort(axis=1)
        chance += np.einsum("up,eup->e", x, y[orders])
    as_far = int((np.abs(chance) >= abs(seen) - 1e-9).sum())
    p = (as_far + 1) / (exchanges + 1) if exchanges else None
    return Level(seen / norm, p, len(ranks), compared)


def _ranks(block: Float[np.ndarray, "rows _ _"]) -> Float[np.ndarray, "rows _ _"]:
    """From 1, among the rows; those that are equal share the mean of their ranks."""
    below = (block[None] < block[:, None]).sum(axis=1)
    equal = (block[None] == block[:, None]).sum(axis=1)
    return below + (equal + 1) / 2
