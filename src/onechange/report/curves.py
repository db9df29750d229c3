"""The curves: nats per character of validation and training text as training went on."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np

from onechange.report.answer import decimals
from onechange.report.digits import plain, seconds, short
from onechange.report.ladder import INK, MUTED, PAPER, Layout
from onechange.report.marks import colour, shape
from onechange.report.still import compiled
from onechange.report.study import Arm, Study

AXES = {
    "step": "steps",
    "tokens": "tokens",
    "characters": "characters",
    "operations": "operations",
    "seconds": "seconds",
}
TITLES = {
    "step": "training steps",
    "tokens": "tokens read",
    "characters": "characters of text read",
    "operations": "floating-point operations",
    "seconds": "seconds of training",
}
_LABELS = (
    "datum.value >= 1e12 ? format(datum.value / 1e12, ',~r') + ' trillion' : "
    "datum.value >= 1e9 ? format(datum.value / 1e9, ',~r') + ' billion' : "
    "datum.value >= 1e6 ? format(datum.value / 1e6, ',~r') + ' million' : format(datum.value, ',~r')"
)


def rows(study: Study) -> list[dict[str, Any]]:
    """One row per arm and evaluation: means over the arm's finished runs, or over all if none has."""
    return [row for arm in study.arms for row in _rows(arm)]


def specification(study: Study, layout: Layout) -> dict[str, Any] | None:
    """The curves at one width as Vega, whose signal ``axis`` chooses the horizontal axis; None if empty."""
    points = rows(study)
    if not any(row["validation"] is not None or row["training"] is not None for row in points):
        return None
    names = layout.plot >= 500
    right = min(170, 20 + 8 * max(len(arm.name) for arm in study.arms)) if names else 8
    height = 420 if names else 300
    vega = compiled(_chart(study, points, layout.width - 44 - right, height, names, decimals(study)))
    vega["padding"] = {"left": 40, "right": right, "top": 28, "bottom": 40}
    for axis in vega["axes"]:
        if axis.get("title") == "step":
            axis["title"] = {"signal": f"{_listed(TITLES)}[axis]"}
    for mark in vega["marks"]:
        if mark["name"].endswith("_voronoi"):
            # A Voronoi cell's datum is the mark beneath it, which Vega-Lite mistakes for the row.
            mark["encode"]["update"]["tooltip"] = {"signal": "datum.datum.told"}
    return vega


def clipped(study: Study) -> bool:
    """Whether some evaluations lie above the picture."""
    points = rows(study)
    return bool(points) and any(
        row["validation"] > _domain(points, study.floor)[1] for row in points if row["validation"]
    )


def overfitting(study: Study) -> list[tuple[Arm, int, float]]:
    """Arms whose validation rose after its lowest evaluation: the step of that, and the rise by the end."""
    found = []
    for arm in study.arms:
        curve = [(row["validation"], row["step"]) for row in _rows(arm) if row["validation"] is not None]
        if curve and curve[-1][0] > min(curve)[0]:
            lowest = min(curve)
            found.append((arm, lowest[1], curve[-1][0] - lowest[0]))
    return found


def _rows(arm: Arm) -> list[dict[str, Any]]:
    runs = [run for run in arm.runs if run.get("status", "finished") == "finished" and run.get("history")]
    runs = runs or [run for run in arm.runs if run.get("history")]
    by_step: dict[int, list[dict[str, Any]]] = {}
    for run in runs:
        for entry in run["history"]:
            by_step.setdefault(entry["step"], []).append(entry)
    found = []
    for step, entries in sorted(by_step.items()):
        validation = _values(entries, "validation_nats_per_character")
        row: dict[str, Any] = {key: _mean(_values(entries, key)) for key in AXES}
        row |= {"arm": arm.index, "name": arm.name, "step": step, "seeds": len(entries)}
        row |= {
            "validation": _mean(validation),
            "training": _mean(_values(entries, "training_nats_per_character")),
        }
        row |= {"low": min(validation, default=None), "high": max(validation, default=None)}
        found.append(row)
    lowest = min((row["validation"] for row in found if row["validation"] is not None), default=None)
    past = False
    for row in found:
        row["best"] = not past and row["validation"] is not None and row["validation"] == lowest
        past = past or row["best"]
        row["lowest"] = lowest if past else None
    return found


def _chart(
    study: Study, points: list[dict[str, Any]], width: int, height: int, names: bool, digits: int
) -> alt.TopLevelMixin:
    low, high = _domain(points, study.floor)
    arms = [arm.index for arm in study.arms]
    for row in points:
        row["told"] = _told(row, digits)
    axis_x = alt.Axis(
        title="step",
        labelExpr=_LABELS,
        tickCount=8 if names else 3,
        grid=False,
        labelOverlap="greedy",
        labelSeparation=14,
    )
    x = alt.X("at:Q", axis=axis_x, scale=alt.Scale(zero=True, nice=False))
    across = alt.Scale(domain=[low, high], nice=False, zero=False)
    y_axis = alt.Axis(
        title="nats per character",
        titleAngle=0,
        titleAlign="left",
        titleAnchor="end",
        titleX=-34,
        titleY=-16,
        tickCount=6,
    )
    colours = alt.Color("arm:N", legend=None, scale=alt.Scale(domain=arms, range=[colour(i) for i in arms]))
    shapes = alt.Shape("arm:N", legend=None, scale=alt.Scale(domain=arms, range=[shape(i) for i in arms]))
    source = alt.Chart(alt.InlineData(values=points)).transform_calculate(at="datum[axis]")
    line = source.transform_filter("isValid(datum.validation)").encode(x=x, color=colours, detail="arm:N")
    validation = alt.Y("validation:Q", scale=across, axis=y_axis)
    layers = [
        line.mark_area(opacity=0.22, clip=True)
        .transform_filter("isValid(datum.lowest)")
        .encode(y=validation, y2="lowest:Q"),
        source.mark_line(strokeWidth=1.25, strokeDash=[4, 3], opacity=0.65, clip=True)
        .transform_filter("isValid(datum.training)")
        .encode(x=x, y=alt.Y("training:Q", scale=across, axis=y_axis), color=colours, detail="arm:N"),
        line.mark_line(strokeWidth=2.5, clip=True).encode(y=validation),
    ]
    if any(row["seeds"] > 1 for row in points):
        band = line.mark_area(opacity=0.18, clip=True)
        layers.append(band.encode(y=alt.Y("low:Q", scale=across, axis=y_axis), y2="high:Q"))
    marked = line.transform_filter(f"datum.best && datum.validation <= {high}").encode(
        y=validation, shape=shapes
    )
    layers.append(marked.mark_point(filled=True, size=130, opacity=1, stroke=PAPER, strokeWidth=1.5))
    if study.floor is not None:
        row = {"y": study.floor, "text": f"floor {plain(study.floor, digits)}"}
        floor = alt.Chart(alt.InlineData(values=[row])).encode(y=alt.Y("y:Q", scale=across, axis=y_axis))
        layers.append(floor.mark_rule(color=INK, strokeDash=[2, 3], strokeWidth=1.5))
        text = {"align": "right", "baseline": "bottom", "dy": -4, "fontSize": 12, "color": MUTED}
        layers.append(floor.mark_text(**text, x={"expr": "width"}).encode(text="text:N"))
    if names:
        layers.append(_names(points, study, low, high, height).encode(color=alt.value(INK)))
    near = alt.selection_point(
        name="near", nearest=True, on="pointermove", clear="pointerout", fields=["arm", "step"], empty=False
    )
    seen = line.transform_filter(f"datum.validation <= {high}").encode(
        y=validation, shape=shapes, tooltip="told:N"
    )
    layers.append(
        seen.mark_point(filled=True, size=70)
        .encode(opacity=alt.condition(near, alt.value(1), alt.value(0)))
        .add_params(near)
    )
    return (
        alt.layer(*layers)
        .add_params(alt.param(name="axis", value="step"))
        .properties(width=width, height=height, autosize=alt.AutoSizeParams(type="none"))
    )


def _names(points: list[dict[str, Any]], study: Study, low: float, high: float, height: int) -> alt.Chart:
    """The arms' names right of the plot, as high as the curves end, moved apart where they would collide."""
    ends = []
    for arm in study.arms:
        last = [
            row["validation"] for row in points if row["arm"] == arm.index and row["validation"] is not None
        ]
        if last:
            ends.append((height * (high - min(last[-1], high)) / (high - low), arm.name))
    ends.sort()
    apart: list[float] = []
    for at, _ in ends:
        apart.append(max(at, apart[-1] + 18) if apart else at)
    overshoot = max(0.0, (apart[-1] if apart else 0) - height)
    labels = [{"text": name[:20], "y": at - overshoot} for at, (_, name) in zip(apart, ends, strict=True)]
    return (
        alt.Chart(alt.InlineData(values=labels))
        .mark_text(align="left", baseline="middle", fontSize=13, fontWeight=600, x={"expr": "width + 12"})
        .encode(text="text:N", y=alt.Y("y:Q", scale=None, axis=None))
    )


def _domain(points: list[dict[str, Any]], floor: float | None) -> tuple[float, float]:
    """From the lowest of all to the highest after a fifth of an arm's training: the plunge lies above."""
    values: list[float] = [row[k] for row in points for k in ("validation", "training") if row[k] is not None]
    tops: list[float] = []
    for index in {row["arm"] for row in points}:
        own = [row for row in points if row["arm"] == index and row["validation"] is not None]
        settled = [row["validation"] for row in own if row["step"] >= own[-1]["step"] / 5]
        tops += settled[:1]
    low = min(values if floor is None else [*values, floor])
    high = max(tops or values)
    room = 0.05 * (high - low or 0.1)
    return low - room, high + room


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


def _values(entries: Sequence[dict[str, Any]], key: str) -> list[float]:
    return [entry[key] for entry in entries if entry.get(key) is not None]


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None


def _listed(names: dict[str, str]) -> str:
    return "{" + ", ".join(f"{key}: '{text}'" for key, text in names.items()) + "}"
