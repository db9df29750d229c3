"""The chart of a sweep: nats per character over the setting's value, with every point's interval."""

from typing import Any

import altair as alt

from onechange.report.ladder import MUTED, PAPER, Layout, marked
from onechange.report.marks import colour, shape
from onechange.report.setting_axis import horizontal, sizes, vertical
from onechange.report.sweeps import Sweep


def chart(sweep: Sweep, layout: Layout) -> alt.TopLevelMixin:
    """Points in the arms' own colours and shapes, joined in the order of the values."""
    found = [(point.value, point.arm, point.arm.best) for point in sweep.points]
    rows = [
        {
            "value": value,
            "nats": best.nats_per_character,
            "low": best.low,
            "high": best.high,
            "colour": colour(arm.index),
            "shape": shape(arm.index),
        }
        for value, arm, best in found
        if best is not None
    ]
    known = [row[key] for row in rows for key in ("nats", "low", "high") if row[key] is not None]
    x = horizontal([row["value"] for row in rows], sweep.words, sweep.logarithmic)
    y = vertical(known, "nats per character, 95% interval")
    tinted: dict[str, Any] = {"color": {"expr": "datum.colour"}}
    intervals = marked([{**row, "nats": row["low"]} for row in rows if row["low"] is not None])
    layers = [
        marked(rows).mark_line(color=MUTED, strokeWidth=1.5),
        intervals.mark_rule(strokeWidth=8, opacity=0.35, strokeCap="round", **tinted).encode(y2="high:Q"),
        marked(rows).mark_point(
            filled=True, size=160, opacity=1, stroke=PAPER, shape={"expr": "datum.shape"}, **tinted
        ),
    ]
    return alt.layer(*(layer.encode(x=x, y=y) for layer in layers)).properties(**sizes(layout))
