"""What may be said about a change: a difference in nats per character, its interval, a verdict.

A figure is a ratio of sums over the validation stories, R = Σ nats / Σ characters, so the longer story
weighs more. Its variance over stories is linearised: with e_j = (nats_j − R · characters_j) /
mean(characters), the variance of R is s²(e) / N (Cochran, Sampling Techniques, 3rd ed., 1977, section
2.11). Two arms are compared seed by seed and story by story, which takes away what makes a story hard for
both. With n ≥ 3 seeds the interval of the difference is

    mean ± t(n − 1) · sqrt(s²_seeds / n + s²_stories / N)

The p-value is that of the same t, so it is below 0.05 exactly where the interval leaves out zero. Fewer seeds
cannot be judged: two runs of the *same* arm differ by more than the text alone suggests.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float, Int
from scipy import special

ALPHA = 0.05
"""The share of false verdicts that is put up with."""
CONFIDENCE = 1 - ALPHA
SEEDS_FOR_A_VERDICT = 3

Verdict = Literal[
    "better", "worse", "no difference seen", "one seed: not judged", "budget in seconds: not judged"
]
Over = Literal["seeds and text", "seeds", "text", "nothing"]


@dataclass(frozen=True, eq=False)
class Scores:
    """One run's nats and characters, story by story, the separator counted with the story it follows."""

    nats: Float[np.ndarray, " stories"]
    characters: Int[np.ndarray, " stories"]

    def __post_init__(self) -> None:
        if self.nats.ndim != 1 or self.nats.shape != self.characters.shape or not len(self.nats):
            raise ValueError(
                f"scores need one figure per story, at least one: {self.nats.shape} nats and "
                f"{self.characters.shape} characters were given"
            )
        if not np.isfinite(self.nats).all() or not (self.characters > 0).all():
            raise ValueError("scores need finite nats and at least one character for every story")


@dataclass(frozen=True)
class Level:
    """One arm's nats per character, the mean over its seeds, with its 95% interval.

    ``spread`` is the standard deviation over the seeds, None below two of them.
    """

    nats_per_character: float
    low: float | None
    high: float | None
    interval: Over
    seeds: int
    spread: float | None = None


@dataclass(frozen=True)
class SeedDifference:
    """Arm minus parent with one seed, in nats per character."""

    seed: int
    difference: float


@dataclass(frozen=True)
class Difference:
    """Arm minus parent in nats per character, the mean over seeds: negative is better.

    ``interval`` says what ``low`` and ``high`` (95%) allow for. A validation text of a single story shows
    nothing of how the figure varies with the text: then it is ``seeds``, or below three seeds ``nothing`` and
    both are None.
    """

    nats_per_character_difference: float
    low: float | None
    high: float | None
    verdict: Verdict
    interval: Over
    seeds: int
    p: float | None
    """Two-sided; None where the difference is not judged."""
    spread: float | None
    """Standard deviation of `seed_differences`, s_seeds; None below two seeds."""
    text_error: float | None
    """Standard error over the stories, s_stories / √N; None with a single story."""
    noise_floor: float | None
    """How far two runs of one and the same arm lie apart: the root mean square over pairs of seeds, pooled over arm
    and parent; None below two seeds."""
    seed_differences: tuple[SeedDifference, ...]


@dataclass(frozen=True)
class _Estimate:
    """A mean over seeds with what is known of its chance, and the 95% interval that follows."""

    ratios: Float[np.ndarray, " seeds"]
    text_error: float | None
    variance: float | None
    freedom: int
    over: Over

    @property
    def mean(self) -> float:
        return float(self.ratios.mean())

    @property
    def spread(self) -> float | None:
        return float(self.ratios.std(ddof=1)) if len(self.ratios) > 1 else None

    @property
    def interval(self) -> tuple[float, float] | tuple[None, None]:
        if self.variance is None:
            return None, None
        half = float(special.stdtrit(self.freedom, 1 - ALPHA / 2)) * math.sqrt(self.variance)
        return self.mean - half, self.mean + half

    @property
    def p(self) -> float | None:
        """That the mean lies this far from zero by chance; None where it is not judged."""
        if len(self.ratios) < SEEDS_FOR_A_VERDICT or self.variance is None:
            return None
        if self.variance == 0:
            return float(self.mean == 0)
        return float(2 * special.stdtr(self.freedom, -abs(self.mean) / math.sqrt(self.variance)))


def interval_over_stories(
    nats: Float[np.ndarray, " stories"], characters: Int[np.ndarray, " stories"]
) -> tuple[float, float | None, float | None]:
    """Nats per character of one run and its 95% interval over text, t(N − 1); one story has none."""
    found = _estimate([Scores(nats, characters)])
    low, high = found.interval
    return found.mean, low, high


def level(seeds: Sequence[Scores]) -> Level:
    """An arm's figure over its runs, one `Scores` per seed; a `ValueError` if their stories differ."""
    found = _estimate(seeds)
    return Level(found.mean, *found.interval, found.over, len(seeds), found.spread)


def difference(
    arm: Sequence[Scores], parent: Sequence[Scores], seeds: Sequence[int] | None = None
) -> Difference:
    """Compare two arms, one `Scores` per seed, the seeds of both in the same order.

    ``seeds`` are their numbers, 0, 1, 2, … where they are not given. Raises a `ValueError` if the numbers of
    seeds, or the characters of the stories, differ between the two.
    """
    if len(arm) != len(parent):
        raise ValueError(f"seeds are compared in pairs: {len(arm)} of the arm, {len(parent)} of its parent")
    numbers = range(len(arm)) if seeds is None else seeds
    if len(numbers) != len(arm):
        raise ValueError(f"every pair of scores needs its seed: {len(arm)} pairs, {len(numbers)} seeds")
    _same_stories([*arm, *parent])
    paired = [Scores(a.nats - p.nats, a.characters) for a, p in zip(arm, parent, strict=True)]
    found = _estimate(paired)
    low, high = found.interval
    return Difference(
        nats_per_character_difference=found.mean,
        low=low,
        high=high,
        verdict=_verdict(low, high, len(paired)),
        interval=found.over,
        seeds=len(paired),
        p=found.p,
        spread=found.spread,
        text_error=found.text_error,
        noise_floor=_noise_floor(arm, parent),
        seed_differences=tuple(
            SeedDifference(seed, float(value)) for seed, value in zip(numbers, found.ratios, strict=True)
        ),
    )


def _noise_floor(arm: Sequence[Scores], parent: Sequence[Scores]) -> float | None:
    """Two runs of one arm differ by √2 s in root mean square over all pairs, where s is the spread of the arm."""
    if len(arm) < 2:
        return None
    variances = [_ratios(runs).var(ddof=1) for runs in (arm, parent)]
    return math.sqrt(2 * float(np.mean(variances)))


def _ratios(seeds: Sequence[Scores]) -> Float[np.ndarray, " seeds"]:
    return np.array([scores.nats.sum() / scores.characters.sum() for scores in seeds])


def _estimate(seeds: Sequence[Scores]) -> _Estimate:
    _same_stories(seeds)
    n, stories = len(seeds), len(seeds[0].nats)
    characters = seeds[0].characters.astype(np.float64)
    ratios = _ratios(seeds)
    nats = np.mean([scores.nats for scores in seeds], axis=0)
    residuals = (nats - nats.sum() / characters.sum() * characters) / characters.mean()
    over_text = float(residuals.var(ddof=1)) / stories if stories > 1 else None
    text_error = None if over_text is None else math.sqrt(over_text)
    if n >= SEEDS_FOR_A_VERDICT:
        variance = float(ratios.var(ddof=1)) / n + (over_text or 0.0)
        return _Estimate(
            ratios, text_error, variance, n - 1, "seeds" if over_text is None else "seeds and text"
        )
    if over_text is not None:
        return _Estimate(ratios, text_error, over_text, stories - 1, "text")
    return _Estimate(ratios, None, None, 0, "nothing")


def _verdict(low: float | None, high: float | None, seeds: int) -> Verdict:
    if seeds < SEEDS_FOR_A_VERDICT:
        return "one seed: not judged"
    assert low is not None and high is not None
    return "better" if high < 0 else "worse" if low > 0 else "no difference seen"


def _same_stories(seeds: Sequence[Scores]) -> None:
    if not seeds:
        raise ValueError("a comparison needs at least one seed")
    for other in seeds[1:]:
        if not np.array_equal(other.characters, seeds[0].characters):
            raise ValueError(
                f"the runs were not scored on the same stories: {len(seeds[0].characters)} stories with "
                f"{seeds[0].characters.sum():,} characters, and {len(other.characters)} with "
                f"{other.characters.sum():,}"
            )
