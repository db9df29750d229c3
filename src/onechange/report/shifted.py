"""The shift test in the report: what changes when the same passage is read elsewhere in the window."""

from statistics import fmean
from typing import Any, Literal

import altair as alt

from onechange.report import line_chart
from onechange.report.digits import count, plain
from onechange.report.ladder import Layout
from onechange.report.probes import over_seeds, probes
from onechange.report.study import Arm, Study
from onechange.report.table import Cell
from onechange.report.wording import listed

COLUMNS = (
    "from position",
    "to position",
    "prediction, nats per token",
    "surprise, nats per token",
    "features after the last layer",
)
ROUNDING = 1e-4
"""Below it a change is what rounding makes."""
Measure = Literal["kl", "change"]
TITLES: dict[Measure, str] = {
    "kl": "change of the prediction, nats per token",
    "change": "change of the features, as a share of them",
}


def shifts(arm: Arm) -> list[dict[str, Any]]:
    """The arm's shift tests, one a seed; empty where no passage could be moved."""
    return [probe["shift"] for probe in probes(arm) if probe["shift"] is not None]


def rows(study: Study) -> list[tuple[Arm, list[Cell]]]:
    """One row per arm in the order of `COLUMNS`."""
    return [(arm, _cells(found)) for arm in study.arms if (found := shifts(arm))]


def _cells(found: list[dict[str, Any]]) -> list[Cell]:
    last = [one["layers"][-1] for one in found]
    figures = (
        [each["kl"] for each in last],
        [one["surprise_change"] for one in found],
        [each["change"] for each in last],
    )
    return [
        *(Cell(count(place)) for place in found[0]["positions"]),
        *(_figure(values) for values in figures),
    ]


def _figure(values: list[float]) -> Cell:
    settled = [_settled(value) for value in values]
    return Cell(*over_seeds(settled, 3)) if any(settled) else Cell("0")


def words(study: Study) -> list[str]:
    """Which arms see another passage, by how much, and which see the same."""
    moved, same = [], []
    for arm in study.arms:
        found = shifts(arm)
        if not found:
            continue
        divergence = fmean(one["layers"][-1]["kl"] for one in found)
        surprise = fmean(one["surprise_change"] for one in found)
        if _settled(divergence) or _settled(surprise):
            told = f"of {arm.name} by {plain(divergence, 3)} nats per token"
            moved.append(f"{told} (and the surprise at the true token by {plain(surprise, 3)}, up or down)")
        else:
            same.append(arm.name)
    told = [f"Moving a passage changes the prediction {listed(moved)}."] if moved else []
    if same:
        told.append(f"To {listed(same)} it is the same passage in either place, up to rounding.")
    return told


def lines(study: Study) -> list[dict[str, Any]]:
    """One row per arm and layer, 0 for the embedding: means over seeds."""
    found = []
    for arm in study.arms:
        seeds = [one["layers"] for one in shifts(arm)]
        for layer, each in enumerate(zip(*seeds, strict=False)):
            means = {key: _settled(fmean(one[key] for one in each)) for key in TITLES}
            found.append({"arm": arm.index, "name": arm.name, "at": layer, **means})
    return found


def chart(study: Study, layout: Layout, measure: Measure) -> alt.TopLevelMixin | None:
    """A line per arm over the layers; None where all of them see the same passage, and every line would be 0."""
    drawn = lines(study)
    if not any(row["kl"] or row["change"] for row in drawn):
        return None
    layers = max(row["at"] for row in drawn)
    highest = max(row[measure] for row in drawn) or 1.0
    label = f"datum.value == 0 ? '{'in' if layout.brief else 'embedding'}' : format(datum.value, 'd')"
    x = alt.X(
        "at:Q",
        scale=alt.Scale(domain=[-0.15, layers + 0.15], nice=False, zero=False),
        axis=alt.Axis(title="after layer", values=list(range(layers + 1)), grid=False, labelExpr=label),
    )
    y = line_chart.upright(measure, (-0.03 * highest, 1.06 * highest), TITLES[measure])
    return line_chart.chart(drawn, layout, x, y)


def _settled(value: float) -> float:
    return 0.0 if abs(value) < ROUNDING else value
