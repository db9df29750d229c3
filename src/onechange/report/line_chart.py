"""A line per arm in its own colour, a mark in its own shape at every point: what several charts of the page share."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from onechange.report.ladder import MUTED, PAPER, Layout, marked
from onechange.report.marks import colour, shape

LEFT = 44


def chart(
    rows: Sequence[Mapping[str, Any]], layout: Layout, x: alt.X, y: alt.Y, rules: Sequence[float] = ()
) -> alt.TopLevelMixin:
    """``rows`` hold the number of an ``arm`` and what ``x`` and ``y`` name; ``rules`` are upright lines at some x."""
    arms = sorted({row["arm"] for row in rows})
    colours = alt.Color(
        "arm:N", legend=None, scale=alt.Scale(domain=arms, range=[colour(index) for index in arms])
    )
    shapes = alt.Shape(
        "arm:N", legend=None, scale=alt.Scale(domain=arms, range=[shape(index) for index in arms])
    )
    source = alt.Chart(alt.InlineData(values=[dict(row) for row in rows])).encode(x=x, y=y, color=colours)
    point = {"filled": True, "size": 90, "opacity": 1, "stroke": PAPER, "strokeWidth": 1}
    dashed: dict[str, Any] = {"color": MUTED, "strokeDash": [2, 3], "strokeWidth": 1.5}
    layers = [
        source.mark_line(strokeWidth=2.5).encode(detail="arm:N"),
        source.mark_point(**point).encode(shape=shapes),
    ]
    if rules:
        layers.insert(0, marked([{"at": rule} for rule in rules]).mark_rule(**dashed).encode(x=x))
    return alt.layer(*layers).properties(
        width=layout.width - LEFT - 16,
        height=320 if layout.plot >= 500 else 260,
        padding={"left": LEFT, "right": 16, "top": 28, "bottom": 40},
        autosize=alt.AutoSizeParams(type="none"),
    )


def doubling(marks: Sequence[float], title: str) -> alt.X:
    """An axis on which a doubling is always as wide, with ticks at the ``marks``."""
    return alt.X(
        "at:Q",
        scale=alt.Scale(type="log", base=2, nice=False, domain=[marks[0], marks[-1]]),
        axis=alt.Axis(
            title=title, values=list(marks), format=",d", grid=False, labelOverlap="greedy", labelSeparation=8
        ),
    )


def upright(field: str, ends: tuple[float, float], title: str) -> alt.Y:
    """An axis from end to end, its title above it."""
    return alt.Y(
        f"{field}:Q",
        scale=alt.Scale(domain=list(ends), nice=False, zero=False),
        axis=alt.Axis(
            title=title,
            titleAngle=0,
            titleAlign="left",
            titleAnchor="end",
            titleX=-34,
            titleY=-16,
            tickCount=6,
        ),
    )
