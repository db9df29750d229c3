"""The chart of the differences: every seed a dot, the mean with its interval, zero, and the noise floor as a band."""

from typing import Any

import altair as alt

from onechange.report import differences
from onechange.report.answer import change, decimals
from onechange.report.differences import Row
from onechange.report.digits import plain, signed
from onechange.report.ladder import INK, MARGIN, MUTED, PAPER, Layout, marked, shortened
from onechange.report.marks import colour, shape
from onechange.report.study import Study

ROW, LABEL, MEAN, SEEDS = 84, 14, 42, 58
"""Pixels: the height of a row, and how far below its top its words, its mean and its seeds stand."""


def chart(study: Study, layout: Layout) -> alt.TopLevelMixin:
    """One row per change: its name and figure above, its marks beneath."""
    rows = differences.rows(study)
    height, (low, high) = ROW * len(rows), domain(rows)
    axis = alt.Axis(
        orient="top",
        title="nats per character, arm minus parent (← better)",
        titleAnchor="start",
        titlePadding=8,
        tickCount=max(3, layout.plot // 130),
        labelExpr="datum.value == 0 ? '0' : format(datum.value, '+~r')",
    )
    x = alt.X("x:Q", scale=alt.Scale(domain=[low, high], nice=False, zero=False), axis=axis)
    y = alt.Y("y:Q", scale=alt.Scale(domain=[0, height], reverse=True, nice=False), axis=None)
    data = _data(rows)
    data["words"] = _words(study, rows, layout, low, (high - low) / layout.plot)
    tinted: dict[str, Any] = {"color": {"expr": "datum.colour"}}
    dot: dict[str, Any] = {
        "filled": True,
        "opacity": 1,
        "stroke": PAPER,
        "shape": {"expr": "datum.shape"},
        **tinted,
    }
    words: dict[str, Any] = {
        "align": "left",
        "baseline": "middle",
        "fontSize": layout.font,
        "fontWeight": {"expr": "datum.bold ? 600 : 400"},
    }
    layers = [
        marked(data["bands"]).mark_rect(color=MUTED, opacity=0.24).encode(x2="x2:Q", y2="y2:Q"),
        marked([{"x": 0, "y": 0, "y2": height}]).mark_rule(color=INK, strokeWidth=1.2).encode(y2="y2:Q"),
        marked(data["intervals"])
        .mark_rule(strokeWidth=8, opacity=0.35, strokeCap="round", **tinted)
        .encode(x2="x2:Q"),
        marked(data["seeds"]).mark_point(**dot, size=45, strokeWidth=0.75),
        marked(data["means"]).mark_point(**dot, size=160, strokeWidth=1),
        marked(data["words"])
        .mark_text(**words, color=PAPER, stroke=PAPER, strokeWidth=5)
        .encode(text="text:N"),
        marked(data["words"]).mark_text(**words, color=INK).encode(text="text:N"),
    ]
    return alt.layer(*(layer.encode(x=x, y=y) for layer in layers)).properties(
        width=layout.plot,
        height=height,
        padding={"left": MARGIN, "right": MARGIN, "top": 44, "bottom": 4},
        autosize=alt.AutoSizeParams(type="none"),
    )


def domain(rows: list[Row]) -> tuple[float, float]:
    """From the lowest to the highest of all that is drawn, zero too, and some room."""
    values = [0.0]
    for row in rows:
        values += [row.difference, *(difference for _, difference in row.seeds)]
        values += [value for value in (row.low, row.high) if value is not None]
        values += [] if row.floor is None else [-row.floor, row.floor]
    span = max(values) - min(values) or 0.1
    return min(values) - 0.05 * span, max(values) + 0.05 * span


def _data(rows: list[Row]) -> dict[str, list[dict[str, Any]]]:
    """Every mark but the words: x in nats per character, y in pixels from the top."""
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in ("bands", "intervals", "seeds", "means")}
    for number, row in enumerate(rows):
        top = ROW * number
        look = {"colour": colour(row.arm.index), "shape": shape(row.arm.index)}
        if row.floor is not None:
            found["bands"].append({"x": -row.floor, "x2": row.floor, "y": top + 26, "y2": top + 70})
        if row.low is not None and row.high is not None:
            found["intervals"].append({"x": row.low, "x2": row.high, "y": top + MEAN, **look})
        if len(row.seeds) > 1:
            found["seeds"] += [{"x": value, "y": top + SEEDS, **look} for _, value in row.seeds]
        found["means"].append({"x": row.difference, "y": top + MEAN, **look})
    return found


def _words(
    study: Study, rows: list[Row], layout: Layout, left: float, nats_per_pixel: float
) -> list[dict[str, Any]]:
    """Above every row the arm's name, and in a column of its own what the change made; the figure is never cut."""
    longest = max(len(row.arm.name) for row in rows)
    column = min(8.8 * longest + 16, layout.plot * 0.32)
    found = []
    for number, row in enumerate(rows):
        y = ROW * number + LABEL
        name = shortened(row.arm.name, column - 16)
        told = _told(study, row, layout, layout.plot - column)
        found.append({"x": left + 2 * nats_per_pixel, "y": y, "text": name, "bold": True})
        found.append({"x": left + column * nats_per_pixel, "y": y, "text": told, "bold": False})
    return found


def _told(study: Study, row: Row, layout: Layout, room: float) -> str:
    """Figure and verdict, and where there is room the interval and the change."""
    digits = decimals(study)
    figure = signed(row.difference, digits)
    if layout.brief:
        return f"{figure}, {row.verdict}"
    if row.low is not None and row.high is not None:
        figure += f" ± {plain((row.high - row.low) / 2, digits)}"
    figure = f"{figure}, {row.verdict}"
    return f"{figure}\u2003{shortened(change(study, row.arm, brief=True), room - 7.4 * len(figure) - 20)}"
