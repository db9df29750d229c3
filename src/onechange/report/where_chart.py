"""Nats per character by how much of the text a model has in view: a line per arm, a doubling from mark to mark."""

from typing import Any

import altair as alt

from onechange.report import where
from onechange.report.ladder import PAPER, Layout
from onechange.report.marks import colour, shape
from onechange.report.still import compiled
from onechange.report.study import Study
from onechange.report.where import ACROSS, Across

LEFT = 44


def specification(study: Study, layout: Layout, across: Across) -> dict[str, Any] | None:
    """The lines at one width as Vega; None where fewer than two marks can be drawn."""
    rows = [row for row in where.lines(study, across) if row["drawn"]]
    if len({row["at"] for row in rows}) < 2:
        return None
    arms = [arm.index for arm in study.arms]
    marks = sorted({row["at"] for row in rows})
    values = [row["nats"] for row in rows]
    room = 0.05 * (max(values) - min(values)) or 0.1
    x = alt.X(
        "at:Q",
        scale=alt.Scale(type="log", base=2, nice=False, domain=[marks[0], marks[-1]]),
        axis=alt.Axis(
            title=f"{ACROSS[across]}, up to",
            values=marks,
            format=",d",
            grid=False,
            labelOverlap="greedy",
            labelSeparation=8,
        ),
    )
    y = alt.Y(
        "nats:Q",
        scale=alt.Scale(domain=[min(values) - room, max(values) + room], nice=False, zero=False),
        axis=alt.Axis(
            title="nats per character",
            titleAngle=0,
            titleAlign="left",
            titleAnchor="end",
            titleX=-34,
            titleY=-16,
            tickCount=6,
        ),
    )
    colours = alt.Color(
        "arm:N", legend=None, scale=alt.Scale(domain=arms, range=[colour(index) for index in arms])
    )
    shapes = alt.Shape(
        "arm:N", legend=None, scale=alt.Scale(domain=arms, range=[shape(index) for index in arms])
    )
    source = alt.Chart(alt.InlineData(values=rows)).encode(x=x, y=y, color=colours)
    point = {"filled": True, "size": 90, "opacity": 1, "stroke": PAPER, "strokeWidth": 1}
    chart = alt.layer(
        source.mark_line(strokeWidth=2.5).encode(detail="arm:N"),
        source.mark_point(**point).encode(shape=shapes),
    ).properties(
        width=layout.width - LEFT - 16,
        height=320 if layout.plot >= 500 else 260,
        padding={"left": LEFT, "right": 16, "top": 28, "bottom": 40},
        autosize=alt.AutoSizeParams(type="none"),
    )
    return compiled(chart)
