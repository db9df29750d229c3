"""What a study can find: the smallest effect that n seeds show, and how many seeds a wanted resolution needs.

The resolution is the size of a true difference that gets its verdict, with the right sign, in 80% of studies. With s
the spread of the differences over seeds and e their standard error over the text, the verdict asks for

    |mean| > t(n − 1) · sqrt(ŝ² / n + e²),    mean ~ Normal(effect, s² / n + e²),    ŝ² ~ s² · χ²(n − 1) / (n − 1)

where e is known well, since there are many stories, and ŝ is not, since there are few seeds. The share found is
the mean over ŝ. With e = 0 it is the noncentral t distribution's, which is what textbooks give; an e that is
known makes t stricter than it need be, never laxer. More seeds do not move e: below (1.96 + 0.84) · e no number helps.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy import optimize, special, stats

from onechange.compare import ALPHA, SEEDS_FOR_A_VERDICT

FOUND = 0.8
"""The share of studies in which an effect as large as the resolution gets its verdict."""
MOST_SEEDS = 1000
_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(200)


@dataclass(frozen=True)
class Range:
    """What a spread may truly be, with 95% confidence."""

    low: float
    high: float


def share_found(effect: float, spread: float, text_error: float, seeds: int) -> float:
    """The share of studies in which a true ``effect`` gets its verdict, with the right sign.

    ``spread``: standard deviation of a seed's difference. All in nats per character; at least three ``seeds``.
    """
    if seeds < SEEDS_FOR_A_VERDICT:
        return 0.0
    variance = spread**2 / seeds + text_error**2
    if variance == 0:
        return float(effect > 0)
    # The mean over χ² as an integral over its quantiles, squared to be smooth at the lower end.
    at = (_POINTS + 1) / 2
    chi = special.chdtri(seeds - 1, 1 - at**2) / (seeds - 1)
    asked = special.stdtrit(seeds - 1, 1 - ALPHA / 2) * np.sqrt(spread**2 / seeds * chi + text_error**2)
    found = special.ndtr((effect - asked) / math.sqrt(variance))
    return float(np.sum(_WEIGHTS * at * found))


def resolution(spread: float, text_error: float, seeds: int) -> float | None:
    """The smallest effect that is found in 80% of studies; None where ``seeds`` are too few for a verdict."""
    if seeds < SEEDS_FOR_A_VERDICT:
        return None
    unit = math.sqrt(spread**2 / seeds + text_error**2)
    if unit == 0:
        return 0.0
    most = unit * (special.stdtrit(seeds - 1, 1 - ALPHA / 2) + 1) * 4
    return optimize.root_scalar(
        lambda effect: share_found(effect, spread, text_error, seeds) - FOUND, bracket=(0.0, most)
    ).root


def finest(text_error: float) -> float:
    """The resolution that no number of seeds gets under: what is left of chance is the text."""
    return float(special.ndtri(1 - ALPHA / 2) + special.ndtri(FOUND)) * text_error


def seeds_needed(wanted: float, spread: float, text_error: float) -> int | None:
    """The fewest seeds whose resolution is at most ``wanted``; None where more than `MOST_SEEDS` would be needed.

    It is None too where `finest` is above ``wanted``: then the text alone forbids it.
    """

    def enough(seeds: int) -> bool:
        return share_found(wanted, spread, text_error, seeds) >= FOUND

    if not enough(MOST_SEEDS):
        return None
    low, high = SEEDS_FOR_A_VERDICT - 1, MOST_SEEDS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def range_of_spread(spread: float, seeds: int) -> Range:
    """Where the true spread lies, from a ``spread`` seen over ``seeds`` (two at least): χ²(n − 1), 95%."""
    if seeds < 2:
        raise ValueError(f"a spread needs two seeds: {seeds} was given")
    low, high = stats.chi2.ppf([ALPHA / 2, 1 - ALPHA / 2], seeds - 1)
    return Range(spread * math.sqrt((seeds - 1) / high), spread * math.sqrt((seeds - 1) / low))
