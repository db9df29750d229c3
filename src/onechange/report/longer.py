"""Texts longer than trained in the report: nats per character at 1, 2 and 4 times the window, and by position."""

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import altair as alt

from onechange.report import line_chart
from onechange.report.answer import decimals
from onechange.report.digits import DASH, count, signed
from onechange.report.ladder import Layout
from onechange.report.probes import over_seeds, probes
from onechange.report.study import Arm, Study
from onechange.report.table import Cell
from onechange.report.where import FEW
from onechange.report.wording import listed

TITLES = {1: "the trained length", 2: "twice", 4: "four times"}


@dataclass(frozen=True)
class Read:
    """An arm at one length: nats per character of every seed, or why there are none."""

    times: int
    window: int
    nats: list[float]
    why_not: str | None


def read(arm: Arm) -> list[Read]:
    """The arm at every length, shortest first; empty where it was not probed."""
    found = [probe["longer"] for probe in probes(arm)]
    if not found:
        return []
    return [
        Read(
            first["times"],
            first["window"],
            [
                each["nats"] / one["characters"]
                for one in found
                for each in one["lengths"]
                if each["times"] == first["times"] and each["nats"] is not None
            ],
            first["why_not"],
        )
        for first in found[0]["lengths"]
    ]


def rows(study: Study) -> list[tuple[Arm, list[Cell]]]:
    """Arm by arm what stands in the table: its window, then the lengths in the order of `TITLES`."""
    return [(arm, list(_cells(arm, decimals(study)))) for arm in study.arms if probes(arm)]


def _cells(arm: Arm, digits: int) -> Iterator[Cell]:
    lengths = {each.times: each for each in read(arm)}
    trained = lengths.get(1)
    yield Cell(DASH if trained is None else count(trained.window))
    for times in TITLES:
        each = lengths.get(times)
        if each is None or not each.nats:
            yield Cell(DASH)
            continue
        mean, beneath = over_seeds(each.nats, digits)
        if times > 1 and trained is not None and trained.nats:
            beneath = signed(fmean(each.nats) - fmean(trained.nats), digits)
        yield Cell(mean, beneath)


def words(study: Study) -> list[str]:
    """What a longer window does to each arm, and who cannot read which length."""
    told: list[str] = []
    refused: dict[tuple[str, str], list[str]] = {}
    for arm in study.arms:
        lengths = [each for each in read(arm) if each.nats]
        if len(lengths) > 1:
            change = signed(fmean(lengths[-1].nats) - fmean(lengths[0].nats), decimals(study))
            told.append(f"{arm.name} {change} at {lengths[-1].window:,} tokens")
        missing: dict[str, list[str]] = {}
        for each in read(arm):
            if each.why_not is not None:
                missing.setdefault(each.why_not, []).append(TITLES.get(each.times, f"{each.times} times"))
        for why, titles in missing.items():
            refused.setdefault((" or ".join(titles), why), []).append(arm.name)
    found = [f"Beside the trained length, in nats per character: {listed(told)}."] if told else []
    return found + [
        f"{listed(names)} cannot be read at {titles} the trained length: {why}."
        for (titles, why), names in refused.items()
    ]


def lines(study: Study) -> list[dict[str, Any]]:
    """By position in the longest window that an arm can be read in; ratios of sums over the seeds."""
    found = []
    for arm in study.arms:
        seeds = [probe["longer"]["lengths"] for probe in probes(arm)]
        whole = [[each for each in lengths if each["nats"] is not None] for lengths in seeds]
        sums: dict[tuple[int, int], list[float]] = {}
        for one in (lengths[-1] for lengths in whole if lengths):
            for each in one["by_position"]:
                total = sums.setdefault((each["from"], each["to"]), [0.0, 0.0])
                total[0] += each["nats"]
                total[1] += each["characters"]
        found += [
            {
                "arm": arm.index,
                "name": arm.name,
                "from": first,
                "at": end - 1,
                "nats": nats / characters,
                "drawn": characters >= FEW * len(seeds) and end > 1,
            }
            for (first, end), (nats, characters) in sorted(sums.items())
        ]
    return found


def chart(study: Study, layout: Layout) -> alt.TopLevelMixin | None:
    """Nats per character by position, upright lines at the trained windows; None where there is too little."""
    drawn = [row for row in lines(study) if row["drawn"]]
    marks = sorted({row["at"] for row in drawn})
    if len(marks) < 2:
        return None
    values = [row["nats"] for row in drawn]
    room = 0.05 * (max(values) - min(values)) or 0.1
    x = line_chart.doubling(marks, "tokens in view, up to")
    y = line_chart.upright("nats", (min(values) - room, max(values) + room), "nats per character")
    windows = {each.window for arm in study.arms for each in read(arm) if each.times == 1}
    rules = sorted(window for window in windows if marks[0] <= window < marks[-1])
    return line_chart.chart(drawn, layout, x, y, rules)
