"""Where the heads look, in the report: attention by distance, a small chart per head, of each arm's first seed."""

import math
from dataclasses import dataclass
from statistics import fmean

from onechange.report.digits import plain
from onechange.report.probes import probes
from onechange.report.study import Arm, Study
from onechange.report.wording import listed

BAR, HIGH = 6, 28
"""Width of a bar and height of the highest, in units of the small chart."""


@dataclass(frozen=True)
class Head:
    """One head: its bars as the path of a picture, its shares and mean distance as text."""

    path: str
    shares: list[str]
    distance: str


@dataclass(frozen=True)
class Looks:
    """One arm: its layers of heads, what the bins are called, the window that was read."""

    arm: Arm
    layers: list[list[Head]]
    bins: list[str]
    window: int

    @property
    def across(self) -> int:
        """Width of a small chart."""
        return BAR * len(self.bins)


def looks(study: Study) -> list[Looks]:
    """Every arm that was probed, at its first seed: seeds have other heads, whose mean would be nobody's."""
    found, tallest = [], most(study)
    for arm in study.arms:
        for first in [probe["attention"] for probe in probes(arm)[:1] if probe["attention"] is not None]:
            layers = [
                [_head(*head, tallest) for head in zip(shares, distances, strict=True)]
                for shares, distances in zip(first["shares"], first["distances"], strict=True)
            ]
            bins = [_bin(each["from"], each["to"]) for each in first["bins"]]
            found.append(Looks(arm, layers, bins, first["bins"][-1]["to"]))
    return found


def most(study: Study) -> float:
    """The share that a bar to the top stands for, in all small charts: a whole number of tenths."""
    shares = [
        share
        for arm in study.arms
        for probe in probes(arm)[:1]
        if probe["attention"] is not None
        for layer in probe["attention"]["shares"]
        for head in layer
        for share in head
    ]
    return min(1.0, max(1, math.ceil(10 * max(shares, default=1.0))) / 10)


def words(study: Study) -> list[str]:
    """How far back each arm looks on average, over all heads and seeds, and how its nearest and farthest heads do."""
    told = []
    for arm in study.arms:
        seeds = [probe["attention"]["distances"] for probe in probes(arm) if probe["attention"] is not None]
        heads = [distance for layers in seeds for layer in layers for distance in layer]
        if heads:
            told.append(
                f"{arm.name} {_tokens(fmean(heads))} ({_tokens(min(heads))} to {_tokens(max(heads))})"
            )
    return (
        [f"On average a head looks back, in tokens (nearest to farthest head): {listed(told)}."]
        if told
        else []
    )


def layers(study: Study) -> list[tuple[Arm, list[str]]]:
    """The mean distance of every layer, over its heads and the seeds, for a table."""
    found = []
    for arm in study.arms:
        seeds = [probe["attention"]["distances"] for probe in probes(arm) if probe["attention"] is not None]
        if seeds:
            means = [fmean(fmean(layer) for layer in each) for each in zip(*seeds, strict=False)]
            found.append((arm, [_tokens(mean) for mean in means]))
    return found


def _head(shares: list[float], distance: float, tallest: float) -> Head:
    heights = [round(HIGH * share / tallest, 1) for share in shares]
    path = "".join(
        f"M{BAR * at},{HIGH}v{-height:g}h{BAR - 1}V{HIGH}z" for at, height in enumerate(heights) if height > 0
    )
    return Head(path, [f"{100 * share:.0f}" for share in shares], _tokens(distance))


def _bin(first: int, end: int) -> str:
    return f"{first:,}" if end == first + 1 else f"{first:,}–{end - 1:,}"


def _tokens(value: float) -> str:
    return plain(value, 1)
