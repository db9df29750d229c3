"""The chart of the curves, still or answering to the pointer."""

from typing import Any

import altair as alt

from onechange.report import curves
from onechange.report.answer import decimals
from onechange.report.digits import plain, seconds, short
from onechange.report.ladder import INK, MUTED, PAPER, Layout
from onechange.report.marks import colour, shape
from onechange.report.still import compiled
from onechange.report.study import Study

TITLES = {
    "step": "training steps",
    "tokens": "tokens read",
    "characters": "characters of text read",
    "operations": "floating-point operations",
    "seconds": "seconds of training",
}
_SHOWN = "indexof(gone, datum.arm) < 0"
_LABELS = (
    "datum.value >= 1e12 ? format(datum.value / 1e12, ',~r') + ' trillion' : "
    "datum.value >= 1e9 ? format(datum.value / 1e9, ',~r') + ' billion' : "
    "datum.value >= 1e6 ? format(datum.value / 1e6, ',~r') + ' million' : format(datum.value, ',~r')"
)


def specification(study: Study, layout: Layout, hover: bool = True) -> dict[str, Any] | None:
    """The curves at one width as Vega, None if empty. Its signal ``axis`` chooses the horizontal axis, and arms whose
    numbers are in ``gone`` are not drawn.

    With ``hover`` the evaluation nearest to the pointer tells its figures.
    """
    points = curves.rows(study)
    if not any(row["validation"] is not None or row["training"] is not None for row in points):
        return None
    names = layout.plot >= 500
    right = min(170, 20 + 8 * max(len(arm.name) for arm in study.arms)) if names else 8
    drawing = _Drawing(study, points, layout.width - 44 - right, 420 if names else 300)
    vega = compiled(drawing.chart(names, hover))
    vega["padding"] = {"left": 40, "right": right, "top": 28, "bottom": 40}
    for axis in vega["axes"]:
        if axis.get("title") == "step":
            axis["title"] = {"signal": f"{_listed(TITLES)}[axis]"}
    for mark in vega["marks"]:
        if mark["name"].endswith("_voronoi"):
            # A Voronoi cell's datum is the mark beneath it, which Vega-Lite mistakes for the row.
            mark["encode"]["update"]["tooltip"] = {"signal": "datum.datum.told"}
    return vega


class _Drawing:
    """The layers of the chart, which share their scales."""

    def __init__(self, study: Study, points: list[dict[str, Any]], width: int, height: int) -> None:
        self.study, self.points, self.width, self.height = study, points, width, height
        self.digits = decimals(study)
        self.low, self.high = curves.domain(points, study.validation_floor)
        arms = [arm.index for arm in study.arms]
        across = alt.Scale(zero=True, nice=False)
        self.x = alt.X("at:Q", axis=_horizontal(8 if width > 400 else 3), scale=across)
        self.colours = alt.Color(
            "arm:N", legend=None, scale=_ordinal(arms, [colour(index) for index in arms])
        )
        self.shapes = alt.Shape("arm:N", legend=None, scale=_ordinal(arms, [shape(index) for index in arms]))
        told = [{**row, "told": _told(row, self.digits)} for row in points]
        source = alt.Chart(alt.InlineData(values=told)).transform_filter(_SHOWN)
        source = source.transform_calculate(at="datum[axis]")
        self.lines = source.encode(x=self.x, color=self.colours, detail="arm:N")

    def chart(self, names: bool, hover: bool) -> alt.TopLevelMixin:
        layers = [*self.wedges(), *self.bands(), self.training(), self.validation(), self.lowest()]
        if self.study.validation_floor is not None:
            layers += self.floor(self.study.validation_floor)
        if names:
            layers.append(self.names())
        if hover:
            layers.append(self.nearest())
        return (
            alt.layer(*layers)
            .add_params(alt.param(name="axis", value="step"), alt.param(name="gone", value=[]))
            .properties(width=self.width, height=self.height, autosize=alt.AutoSizeParams(type="none"))
        )

    def y(self, field: str) -> alt.Y:
        axis = alt.Axis(
            title="nats per character",
            titleAngle=0,
            titleAlign="left",
            titleAnchor="end",
            titleX=-34,
            titleY=-16,
            tickCount=6,
        )
        return alt.Y(
            f"{field}:Q", axis=axis, scale=alt.Scale(domain=[self.low, self.high], nice=False, zero=False)
        )

    def wedges(self) -> list[alt.Chart]:
        """What overfitting costs: between the curve after its lowest point and the height of that point."""
        if all(row["lowest"] is None for row in self.points):
            return []
        after = self.lines.transform_filter("isValid(datum.lowest) && isValid(datum.validation)")
        return [after.mark_area(opacity=0.22, clip=True).encode(y=self.y("validation"), y2="lowest:Q")]

    def bands(self) -> list[alt.Chart]:
        """From the lowest seed to the highest."""
        if all(row["seeds"] < 2 or row["validation"] is None for row in self.points):
            return []
        seeds = self.lines.transform_filter("isValid(datum.low)")
        return [seeds.mark_area(opacity=0.18, clip=True).encode(y=self.y("low"), y2="high:Q")]

    def training(self) -> alt.Chart:
        known = self.lines.transform_filter("isValid(datum.training)")
        faint = known.mark_line(strokeWidth=1.25, strokeDash=[4, 3], opacity=0.65, clip=True)
        return faint.encode(y=self.y("training"))

    def validation(self) -> alt.Chart:
        known = self.lines.transform_filter("isValid(datum.validation)")
        return known.mark_line(strokeWidth=2.5, clip=True).encode(y=self.y("validation"))

    def lowest(self) -> alt.Chart:
        best = self.lines.transform_filter(f"datum.best && datum.validation <= {self.high}")
        mark = best.mark_point(filled=True, size=130, opacity=1, stroke=PAPER, strokeWidth=1.5)
        return mark.encode(y=self.y("validation"), shape=self.shapes)

    def floor(self, floor: float) -> list[alt.Chart]:
        row = {"y": floor, "text": f"floor {plain(floor, self.digits)}"}
        line = alt.Chart(alt.InlineData(values=[row])).encode(y=self.y("y"))
        text = {"align": "right", "baseline": "bottom", "dy": -4, "fontSize": 12, "color": MUTED}
        return [
            line.mark_rule(color=INK, strokeDash=[2, 3], strokeWidth=1.5),
            line.mark_text(**text, x={"expr": "width"}).encode(text="text:N"),
        ]

    def names(self) -> alt.Chart:
        """The arms' names right of the plot, as high as the curves end, moved apart if they collide."""
        ends = []
        for arm in self.study.arms:
            own = [row["validation"] for row in self.points if row["arm"] == arm.index]
            known = [value for value in own if value is not None]
            if known:
                share = (self.high - min(known[-1], self.high)) / (self.high - self.low)
                ends.append((self.height * share, arm.name, arm.index))
        apart: list[float] = []
        for at, _, _ in sorted(ends):
            apart.append(max(at, apart[-1] + 18) if apart else at)
        overshoot = max(0.0, (apart[-1] if apart else 0) - self.height)
        labels = [
            {"text": name[:20], "y": at - overshoot, "arm": index}
            for at, (_, name, index) in zip(apart, sorted(ends), strict=True)
        ]
        text = {"align": "left", "baseline": "middle", "fontSize": 13, "fontWeight": 600, "color": INK}
        place = alt.Y("y:Q", scale=None, axis=None)
        source = alt.Chart(alt.InlineData(values=labels)).transform_filter(_SHOWN)
        marks = source.mark_text(**text, x={"expr": "width + 12"})
        return marks.encode(text="text:N", y=place)

    def nearest(self) -> alt.Chart:
        near = alt.selection_point(
            name="near",
            nearest=True,
            on="pointermove",
            clear="pointerout",
            fields=["arm", "step"],
            empty=False,
        )
        inside = f"isValid(datum.validation) && datum.validation <= {self.high}"
        points = self.lines.transform_filter(inside).mark_point(filled=True, size=70)
        shown = alt.condition(near, alt.value(1), alt.value(0))
        told = points.encode(y=self.y("validation"), shape=self.shapes, tooltip="told:N", opacity=shown)
        return told.add_params(near)


def _horizontal(ticks: int) -> alt.Axis:
    return alt.Axis(
        title="step",
        labelExpr=_LABELS,
        tickCount=ticks,
        grid=False,
        labelOverlap="greedy",
        labelSeparation=14,
    )


def _ordinal(values: list[int], marks: list[str]) -> alt.Scale:
    return alt.Scale(domain=values, range=marks)


def _told(row: dict[str, Any], digits: int) -> str:
    """What the chart says of one evaluation when it is pointed at."""
    parts = [f"{row['name']}, step {row['step']:,}"]
    if row["validation"] is not None:
        spread = f" ({row['seeds']} seeds, {plain(row['low'], digits)} to {plain(row['high'], digits)})"
        parts.append(f"validation {plain(row['validation'], digits)}{spread if row['seeds'] > 1 else ''}")
    if row["training"] is not None:
        parts.append(f"training {plain(row['training'], digits)}")
    parts.append(
        f"{short(row['tokens'])} tokens, {short(row['characters'])} characters, {seconds(row['seconds'])}"
    )
    return "\n".join(parts)


def _listed(names: dict[str, str]) -> str:
    return "{" + ", ".join(f"{key}: '{text}'" for key, text in names.items()) + "}"
