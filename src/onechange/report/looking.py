"""Where the heads look, in the report: attention by distance, a small chart per head, of each arm's first seed."""

from dataclasses import dataclass
from statistics import fmean

from onechange.report.digits import plain
from onechange.report.probes import probes
from onechange.report.study import Arm, Study
from onechange.report.wording import listed

BAR, HIGH = 6, 28
"""Width and height of a bar that holds everything, in units of the small chart."""


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
    found = []
    for arm in study.arms:
        seeds = [probe["attention"] for probe in probes(arm) if probe["attention"] is not None]
        if seeds:
            first = seeds[0]
            layers = [
                [_head(*head) for head in zip(shares, distances, strict=True)]
                for shares, distances in zip(first["shares"], first["distances"], strict=True)
            ]
            bins = [_bin(each["from"], each["to"]) for each in first["bins"]]
            found.append(Looks(arm, layers, bins, first["bins"][-1]["to"]))
    return found


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


def _head(shares: list[float], distance: float) -> Head:
    path = "".join(
        f"M{BAR * at},{HIGH}v{-round(HIGH * share, 1):g}h{BAR - 1}V{HIGH}z"
        for at, share in enumerate(shares)
        if round(HIGH * share, 1) > 0
    )
    return Head(path, [f"{100 * share:.0f}" for share in shares], _tokens(distance))


def _bin(first: int, end: int) -> str:
    return f"{first:,}" if end == first + 1 else f"{first:,}–{end - 1:,}"


def _tokens(value: float) -> str:
    return plain(value, 1)
