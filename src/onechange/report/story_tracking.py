"""Which measures of stories go with the loss over a study's checkpoints: the figures as text, and what they say."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from onechange.compare import ALPHA
from onechange.holm import adjusted
from onechange.report import story_shapes
from onechange.report.digits import DASH, plain, signed, significant
from onechange.report.story_figures import StoryFigures
from onechange.report.table import Cell
from onechange.report.wording import listed
from onechange.stories.measures import ALL

Level = Literal["between_arms", "within_arms", "within_runs"]
LEVELS: dict[Level, str] = {
    "between_arms": "between arms",
    "within_arms": "between seeds",
    "within_runs": "best to last",
}
_NAMED = 3
"""How many measures a sentence names on either side."""
_FEW_ARMS = 4
"""So many arms cannot show anything between them at 5%: four have 24 orders, and p is never below 1/12."""


@dataclass(frozen=True)
class Row:
    """One measure. ``rho`` is Spearman's over all checkpoints; ``cells`` hold it with p for each of `LEVELS`."""

    label: str
    rho: float | None
    text: str
    cells: tuple[Cell, ...]


def rows(written: StoryFigures) -> list[Row]:
    """Those that go most with the loss first; empty where fewer than three checkpoints were measured."""
    return [_row(name, written.tracking[name]) for name in _ordered(written)]


def points(written: StoryFigures) -> int:
    """How many checkpoints there are."""
    return max((found["points"] for found in written.tracking.values()), default=0)


def words(written: StoryFigures) -> list[str]:
    """Which measures go with the loss, which do not, and what may be told from chance."""
    known = {name: rho for name in _ordered(written) if (rho := written.tracking[name]["all"]) is not None}
    if not known:
        return []
    names = list(known)
    first, last = names[:_NAMED], names[_NAMED:][-_NAMED:]
    told = [
        f"Over all {points(written)} checkpoints, what follows the loss most, up or down: {_listed(known, first)}."
    ]
    told += [f"What follows it least: {_listed(known, last)}."] if last else []
    found = {level: _beyond_chance(written, level) for level in LEVELS}
    for level, title in LEVELS.items():
        if found[level]:
            told.append(
                f"{title[0].upper()}{title[1:]}, more than chance: {_listed(found[level], list(found[level]))}."
            )
    if not any(found.values()):
        told.append("At none of the three levels can any of them be told from chance.")
    arms = len(written.arms)
    if 1 < arms <= _FEW_ARMS:
        orders = math.factorial(arms)
        lowest = "always 1" if orders == 2 else f"never below {significant(2 / orders, 2)}"
        told.append(f"{arms} arms have {orders} orders: between them p is {lowest}.")
    return told


def _ordered(written: StoryFigures) -> list[str]:
    names = [name for name in written.measures() if name in written.tracking]
    if points(written) < 3:
        return []
    return sorted(names, key=lambda name: -abs(written.tracking[name]["all"] or 0.0))


def _beyond_chance(written: StoryFigures, level: Level) -> dict[str, float]:
    """ρ of the measures whose p at one level is below 5% after Holm's correction for all measures."""
    found = {
        name: one
        for name in _ordered(written)
        if (one := written.tracking[name][level]) and one["p"] is not None
    }
    corrected = adjusted({name: one["p"] for name, one in found.items() if one["p"] is not None})
    return {name: one["rho"] for name, one in found.items() if corrected[name] < ALPHA}


def _listed(known: Mapping[str, float], names: list[str]) -> str:
    return listed([f"{ALL[name].label} (ρ\u00a0{signed(known[name], 2)})" for name in names])


def _row(name: str, found: story_shapes.Tracking) -> Row:
    rho = found["all"]
    return Row(
        label=ALL[name].label,
        rho=rho,
        text=DASH if rho is None else signed(rho, 2),
        cells=tuple(_cell(found[level]) for level in LEVELS),
    )


def _cell(found: story_shapes.Correlation | None) -> Cell:
    if found is None:
        return Cell(DASH)
    p = found["p"]
    return Cell(signed(found["rho"], 2), "" if p is None else f"p {'< 0.001' if p < 0.001 else plain(p, 3)}")
