"""What the charts over a setting share: its values along the bottom, nats per character along the side."""

from collections.abc import Sequence
from typing import Any

import altair as alt

from onechange.report.ladder import Layout

LEFT, RIGHT, TOP, BOTTOM = 46, 26, 30, 44


def horizontal(values: Sequence[float], words: str, logarithmic: bool) -> alt.X:
    """Ticks at the values themselves, which are all that was tried."""
    kept = sorted(set(values))
    if logarithmic:
        room = (kept[-1] / kept[0]) ** (1 / 16)
        ends = [kept[0] / room, kept[-1] * room]
    else:
        room = (kept[-1] - kept[0]) / 16
        ends = [kept[0] - room, kept[-1] + room]
    kind: dict[str, Any] = {"type": "log"} if logarithmic else {"type": "linear", "zero": False}
    axis = alt.Axis(
        title=words,
        titlePadding=10,
        values=kept,
        grid=False,
        labelExpr="format(datum.value, ',.6~g')",
        labelOverlap="greedy",
        labelSeparation=8,
    )
    return alt.X("value:Q", axis=axis, scale=alt.Scale(domain=ends, nice=False, **kind))


def vertical(values: Sequence[float], title: str) -> alt.Y:
    """From the lowest to the highest, and some room."""
    room = 0.08 * (max(values) - min(values) or 0.1)
    scale = alt.Scale(domain=[min(values) - room, max(values) + room], nice=False, zero=False)
    axis = alt.Axis(
        title=title,
        titleAngle=0,
        titleAlign="left",
        titleAnchor="end",
        titleX=4 - LEFT,
        titleY=-16,
        tickCount=5,
    )
    return alt.Y("nats:Q", axis=axis, scale=scale)


def sizes(layout: Layout) -> dict[str, Any]:
    """The properties of a chart at one width."""
    return {
        "width": layout.width - LEFT - RIGHT,
        "height": 240 if layout.brief else 280,
        "padding": {"left": LEFT, "right": RIGHT, "top": TOP, "bottom": BOTTOM},
        "autosize": alt.AutoSizeParams(type="none"),
    }
