"""What may be said about a measure of stories: its value, an interval of 95%, a word.

**One checkpoint.** A figure is a ratio of sums, R = Σ counts / Σ of, over the N stories that the measure applies to.
With e = (counts − R · of) / mean(of) and n_h of the stories continuing prompt h, its variance is

    Σ_h n_h · s²_h(e) / N²        (Cochran, Sampling Techniques, 3rd ed., 1977, sections 2.11 and 5.6)

since the prompts are fixed and would be the same if the model wrote anew: only what varies within them is chance.
Where some prompt has a single story, nothing is known of that, and all stories are taken for one sample, the spread
between prompts included. The interval is ± t(N − number of prompts). That of a share of stories is Wilson's, with as
many stories as would give this variance (Wilson, Probable inference, 1927,
https://doi.org/10.1080/01621459.1927.10502953), so that 0 of 64 has an interval too. Elsewhere, where all stories are
alike, there is none.

**Several seeds.** Every run wrote its own stories, so the spread of the runs' figures holds both kinds of chance, that
of training and that of sampling. From three seeds on the interval is mean ± t(n − 1) · s / √n. Shares of a few stories
can be the same for all seeds, which shows no spread but is luck: there the spread of sampling takes the place of s.
With fewer seeds only sampling is allowed for, the distances to the limits being combined as roots of sums of squares
(Zou and Donner, Construction of confidence limits about effect measures, 2008, https://doi.org/10.1002/sim.3095), and
nothing is judged.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from jaxtyping import Float, Int
from scipy import special

from onechange.compare import ALPHA, SEEDS_FOR_A_VERDICT
from onechange.stories.measures import ALL, Good

Checkpoint = Mapping[str, Any]
"""``nats_per_character`` and, under ``measures``, what `onechange.stories.measured.Measured.to_json` gave."""
Word = Literal["better", "worse", "higher", "lower", "no difference seen", "one seed: not judged"]
Over = Literal["seeds and samples", "samples", "nothing"]
_UNJUDGED: Word = "one seed: not judged"
_ROUNDING = 1e-12
_Z = float(special.ndtri(1 - ALPHA / 2))


@dataclass(frozen=True)
class Figure:
    """One measure of one checkpoint, or of an arm as the mean over its seeds.

    ``low`` and ``high`` (95%) are None where nothing varies that would tell.
    """

    value: float
    low: float | None
    high: float | None
    error: float
    """Standard error."""
    interval: Over
    stories: int
    """How many the measure applies to, of all seeds."""
    seeds: int = 1


@dataclass(frozen=True)
class Difference:
    """One measure of an arm minus that of its parent, or of one checkpoint minus another; the mean over seeds."""

    value: float
    low: float | None
    high: float | None
    word: Word
    """What may be said. ``better`` and ``worse`` where the measure has a good end, else ``higher`` and ``lower``."""
    interval: Over
    seeds: int
    p: float | None
    """Two-sided; None below three seeds. Many measures are looked at: see `onechange.holm.adjusted`."""
    seed_differences: tuple[float, ...]


def figure(checkpoint: Checkpoint, measure: str) -> Figure | None:
    """Of one checkpoint; None where the measure applies to none of its stories."""
    found = checkpoint["measures"]["measures"][measure]
    counts, of = np.array(found["counts"], dtype=np.float64), np.array(found["of"], dtype=np.float64)
    applies = of > 0
    counts, of = counts[applies], of[applies]
    if not (stories := len(of)):
        return None
    value = float(counts.sum() / of.sum())
    prompts = np.array(checkpoint["measures"]["prompts"])[applies]
    variance, freedom = _over_samples((counts - value * of) / of.mean(), prompts)
    if ALL[measure].unit == "share of stories":
        within = value * (1 - value)
        low, high = _wilson(value, within / variance if variance else float(stories))
        return Figure(value, low, high, (high - low) / 2 / _Z, "samples", stories)
    error = math.sqrt(variance)
    if not error:
        return Figure(value, None, None, 0.0, "nothing", stories)
    half = float(special.stdtrit(freedom, 1 - ALPHA / 2)) * error
    return Figure(value, value - half, value + half, error, "samples", stories)


def over_seeds(runs: Sequence[Checkpoint], measure: str) -> Figure | None:
    """Of an arm, a checkpoint of each of its runs; runs to whose stories the measure does not apply are left out."""
    figures = [found for run in runs if (found := figure(run, measure))]
    return _mean(figures) if figures else None


def difference(arm: Sequence[Checkpoint], parent: Sequence[Checkpoint], measure: str) -> Difference | None:
    """Arm minus parent, or last minus best of one arm: a checkpoint of each seed, in the same order.

    None where no seed has both figures. Raises a `ValueError` if the numbers of seeds differ.
    """
    words: dict[Good, tuple[Word, Word]] = {"more": ("better", "worse"), "less": ("worse", "better")}
    up, down = words.get(ALL[measure].good, ("higher", "lower"))
    return _judged(_pairs(arm, parent, measure), up, down)


def distance(
    arm: Sequence[Checkpoint], parent: Sequence[Checkpoint], measure: str, real: float
) -> Difference | None:
    """How much farther than its parent an arm is from ``real``, the figure of real stories; below 0 it is nearer.

    For measures of which neither end is good. ``real`` is taken as it is, without a chance of its own.
    """
    pairs = [(_away(a, real), _away(p, real)) for a, p in _pairs(arm, parent, measure)]
    return _judged(pairs, "worse", "better")


def _pairs(
    arm: Sequence[Checkpoint], parent: Sequence[Checkpoint], measure: str
) -> list[tuple[Figure, Figure]]:
    if len(arm) != len(parent):
        raise ValueError(f"seeds are compared in pairs: {len(arm)} of the arm, {len(parent)} of its parent")
    return [
        (of_arm, of_parent)
        for one, other in zip(arm, parent, strict=True)
        if (of_arm := figure(one, measure)) and (of_parent := figure(other, measure))
    ]


def _judged(pairs: Sequence[tuple[Figure, Figure]], up: Word, down: Word) -> Difference | None:
    if not pairs:
        return None
    differences = [_minus(*pair) for pair in pairs]
    mean = _mean(differences)
    p, word = None, _UNJUDGED
    if len(pairs) >= SEEDS_FOR_A_VERDICT:
        low, high = _limits(mean)
        word = up if low > 0 else down if high < 0 else "no difference seen"
        t = -abs(mean.value) / mean.error if mean.error else -math.inf if mean.value else 0.0
        p = float(2 * special.stdtr(len(pairs) - 1, t))
    return Difference(
        value=mean.value,
        low=mean.low,
        high=mean.high,
        word=word,
        interval=mean.interval,
        seeds=len(pairs),
        p=p,
        seed_differences=tuple(found.value for found in differences),
    )


def _minus(a: Figure, b: Figure) -> Figure:
    (a_low, a_high), (b_low, b_high) = _limits(a), _limits(b)
    value = a.value - b.value
    return _with_limits(
        value,
        value - math.hypot(a.value - a_low, b_high - b.value),
        value + math.hypot(a_high - a.value, b.value - b_low),
        error=math.hypot(a.error, b.error),
        stories=a.stories + b.stories,
    )


def _away(found: Figure, real: float) -> Figure:
    """How far a figure is from ``real``, its limits carried along."""
    low, high = (limit - real for limit in _limits(found))
    if found.value < real:
        low, high = -high, -low
    return _with_limits(abs(found.value - real), low, high, error=found.error, stories=found.stories)


def _mean(figures: Sequence[Figure]) -> Figure:
    """The mean over seeds."""
    seeds = len(figures)
    values = np.array([found.value for found in figures])
    value, stories = float(values.mean()), sum(found.stories for found in figures)
    sampling = float(np.mean([found.error**2 for found in figures]))
    if seeds >= SEEDS_FOR_A_VERDICT:
        alike = np.ptp(values) <= _ROUNDING * abs(value)
        error = math.sqrt((sampling if alike else float(values.var(ddof=1))) / seeds)
        half = float(special.stdtrit(seeds - 1, 1 - ALPHA / 2)) * error
        if error:
            return Figure(value, value - half, value + half, error, "seeds and samples", stories, seeds)
        return Figure(value, None, None, error, "nothing", stories, seeds)
    below, above = (
        math.hypot(*(found.value - _limits(found)[side] for found in figures)) / seeds for side in (0, 1)
    )
    error = math.sqrt(sampling / seeds)
    return _with_limits(value, value - below, value + above, error=error, stories=stories, seeds=seeds)


def _with_limits(
    value: float, low: float, high: float, *, error: float, stories: int, seeds: int = 1
) -> Figure:
    if not error:
        return Figure(value, None, None, error, "nothing", stories, seeds)
    return Figure(value, low, high, error, "samples", stories, seeds)


def _limits(found: Figure) -> tuple[float, float]:
    """An interval's limits, both the value where it has none."""
    return (found.value, found.value) if found.low is None or found.high is None else (found.low, found.high)


def _over_samples(
    residuals: Float[np.ndarray, " stories"], prompts: Int[np.ndarray, " stories"]
) -> tuple[float, int]:
    """The variance of a figure over samples and its degrees of freedom; 0 and 0 for a single story."""
    stories = len(residuals)
    _, of_prompt, sizes = np.unique(prompts, return_inverse=True, return_counts=True)
    if (sizes < 2).any():
        of_prompt, sizes = np.zeros(stories, dtype=np.int64), np.array([stories])
    freedom = stories - len(sizes)
    if not freedom:
        return 0.0, 0
    means = np.bincount(of_prompt, residuals) / sizes
    squares = np.bincount(of_prompt, (residuals - means[of_prompt]) ** 2)
    return float((sizes * squares / (sizes - 1)).sum()) / stories**2, freedom


def _wilson(share: float, stories: float) -> tuple[float, float]:
    """Wilson's interval of a share of so many stories."""
    over = _Z**2 / stories
    middle = (share + over / 2) / (1 + over)
    half = _Z / (1 + over) * math.sqrt(share * (1 - share) / stories + over / stories / 4)
    return max(0.0, middle - half), min(1.0, middle + half)
