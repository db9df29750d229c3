"""What may be said about a change: a difference in nats per character, its interval, a verdict.

A figure is a ratio of sums over the validation stories, R = Σ nats / Σ characters, so the longer story
weighs more. Its variance over stories is linearised: with e_j = (nats_j − R · characters_j) /
mean(characters), the variance of R is s²(e) / N (Cochran, Sampling Techniques, 3rd ed., 1977, section
2.11). Two arms are compared seed by seed and story by story, which takes away what makes a story hard for
both. With n ≥ 3 seeds the interval of the difference is

    mean ± t(n − 1) · sqrt(s²_seeds / n + s²_stories / N)

Fewer seeds cannot be judged: two runs of the *same* arm differ by more than the text alone suggests.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float, Int
from scipy import stats

CONFIDENCE = 0.95
SEEDS_FOR_A_VERDICT = 3

Verdict = Literal["better", "worse", "no difference seen", "one seed: not judged"]
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
    """One arm's nats per character, the mean over its seeds, with its 95% interval."""

    nats_per_character: float
    low: float | None
    high: float | None
    interval: Over
    seeds: int


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


def interval_over_stories(
    nats: Float[np.ndarray, " stories"], characters: Int[np.ndarray, " stories"]
) -> tuple[float, float | None, float | None]:
    """Nats per character of one run and its 95% interval over text, t(N − 1); one story has none."""
    mean, low, high, _ = _interval([Scores(nats, characters)])
    return mean, low, high


def level(seeds: Sequence[Scores]) -> Level:
    """An arm's figure over its runs, one `Scores` per seed; a `ValueError` if their stories differ."""
    return Level(*_interval(seeds), seeds=len(seeds))


def difference(arm: Sequence[Scores], parent: Sequence[Scores]) -> Difference:
    """Compare two arms, one `Scores` per seed, the seeds of both in the same order.

    Raises a `ValueError` if the numbers of seeds, or the characters of the stories, differ between the two.
    """
    if len(arm) != len(parent):
        raise ValueError(f"seeds are compared in pairs: {len(arm)} of the arm, {len(parent)} of its parent")
    _same_stories([*arm, *parent])
    paired = [Scores(a.nats - p.nats, a.characters) for a, p in zip(arm, parent, strict=True)]
    mean, low, high, over = _interval(paired)
    return Difference(mean, low, high, _verdict(low, high, len(paired)), over, len(paired))


def _interval(seeds: Sequence[Scores]) -> tuple[float, float | None, float | None, Over]:
    _same_stories(seeds)
    n, stories = len(seeds), len(seeds[0].nats)
    characters = seeds[0].characters.astype(np.float64)
    ratios = np.array([scores.nats.sum() / characters.sum() for scores in seeds])
    mean = float(ratios.mean())
    nats = np.mean([scores.nats for scores in seeds], axis=0)
    residuals = (nats - nats.sum() / characters.sum() * characters) / characters.mean()
    variance_over_text = residuals.var(ddof=1) / stories if stories > 1 else 0.0
    if n >= SEEDS_FOR_A_VERDICT:
        variance, freedom = ratios.var(ddof=1) / n + variance_over_text, n - 1
    elif stories > 1:
        variance, freedom = variance_over_text, stories - 1
    else:
        return mean, None, None, "nothing"
    half = float(stats.t.ppf((1 + CONFIDENCE) / 2, freedom) * np.sqrt(variance))
    over = "text" if n < SEEDS_FOR_A_VERDICT else "seeds and text" if stories > 1 else "seeds"
    return mean, mean - half, mean + half, over


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
