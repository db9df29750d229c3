"""What a study can find with the seeds it has, and what it would take to find less: one figure after another.

Everything follows from two figures of a change's difference to its parent: the spread over seeds, which is itself
known badly from few seeds, and the standard error over text. The formulas stand in `onechange.power`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from onechange import power


@dataclass(frozen=True)
class Outlook:
    """One change; differences, spreads and resolutions in nats per character, None where too few seeds are finished."""

    arm: str
    parent: str
    seeds: int
    """Finished in both arms."""
    nats_per_character_difference: float | None
    verdict: str | None
    spread: float | None
    """Standard deviation of the difference over seeds."""
    spread_low: float | None
    spread_high: float | None
    """Where the true spread lies with 95% confidence."""
    noise_floor: float | None
    text_error: float | None
    """Standard error of the difference over the stories; None with a single one."""
    text_share: float | None
    """The text's share of the variance of the mean difference; the rest is the seeds'."""
    resolution: float | None
    """The smallest true difference that gets its verdict in 80% of studies with as many seeds as there are."""
    finest: float | None
    """The resolution that no number of seeds gets under with this text."""
    seeds_needed: int | None
    """For the wanted resolution; None where the text forbids it or more than `power.MOST_SEEDS` would be needed."""
    seeds_needed_low: int | None
    seeds_needed_high: int | None
    """The same were the spread at the ends of its range."""
    text_forbids: bool
    """Whether `finest` is above the wanted resolution."""


def outlook(arm: Mapping[str, Any], wanted: float) -> Outlook:
    """The outlook of an arm of `results.json` that has a parent, for a resolution of ``wanted``.

    It is that of the text on which the arm is judged: the test text, where there is one.
    """
    found = arm.get("versus_parent_test") or arm["versus_parent"] or {}
    seeds, spread = found.get("seeds", 0), found.get("spread")
    error = found.get("text_error")
    text = error or 0.0
    finest = None if error is None else power.finest(error)
    possible = None if spread is None else power.range_of_spread(spread, seeds)
    needed = [
        None if width is None else power.seeds_needed(wanted, width, text)
        for width in (spread, possible and possible.low, possible and possible.high)
    ]
    variance = None if spread is None else spread**2 / seeds + text**2
    return Outlook(
        arm=arm["name"],
        parent=arm["from"],
        seeds=seeds,
        nats_per_character_difference=found.get("nats_per_character_difference"),
        verdict=found.get("verdict"),
        spread=spread,
        spread_low=possible and possible.low,
        spread_high=possible and possible.high,
        noise_floor=found.get("noise_floor"),
        text_error=error,
        text_share=text**2 / variance if variance else None,
        resolution=None if spread is None else power.resolution(spread, text, seeds),
        finest=finest,
        seeds_needed=needed[0],
        seeds_needed_low=needed[1],
        seeds_needed_high=needed[2],
        text_forbids=finest is not None and finest > wanted,
    )
