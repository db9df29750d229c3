"""The chart of tuning: validation nats per character over the setting's value, a line per arm, its best marked."""

from typing import Any

import altair as alt

from onechange.report.ladder import INK, MUTED, PAPER, Layout, marked
from onechange.report.marks import colour, shape
from onechange.report.setting_axis import horizontal, sizes, vertical
from onechange.report.study import Study
from onechange.report.tuning import setting, tuned


def chart(study: Study, layout: Layout) -> alt.TopLevelMixin | None:
    """None where no candidate has a figure, or none but at one value."""
    rows = [
        {
            "value": candidate.value,
            "nats": candidate.validation,
            "arm": found.arm.index,
            "chosen": candidate.chosen,
            "colour": colour(found.arm.index),
            "shape": shape(found.arm.index),
        }
        for found in tuned(study)
        for candidate in found.candidates
        if candidate.validation is not None
    ]
    values = [row["value"] for row in rows]
    if len(set(values)) < 2:
        return None
    x = horizontal(values, setting(study), min(values) > 0)
    y = vertical([row["nats"] for row in rows], "nats per character of validation text")
    tinted: dict[str, Any] = {"color": {"expr": "datum.colour"}}
    own = sorted({c.value for found in tuned(study) for c in found.candidates if c.own})
    layers = [
        marked([{"value": value} for value in own])
        .mark_rule(color=MUTED, strokeDash=[2, 3], strokeWidth=1.5)
        .encode(x=x),
        marked(rows)
        .mark_line(strokeWidth=2)
        .encode(
            x=x,
            y=y,
            detail="arm:N",
            stroke=alt.Stroke("colour:N", scale=None),
        ),
        marked(rows)
        .mark_point(filled=True, opacity=1, stroke=PAPER, shape={"expr": "datum.shape"}, **tinted)
        .encode(x=x, y=y, size=alt.condition("datum.chosen", alt.value(210), alt.value(95))),
        marked([row for row in rows if row["chosen"]])
        .mark_point(filled=False, size=480, opacity=1, stroke=INK, strokeWidth=1.5, shape="circle")
        .encode(x=x, y=y),
    ]
    return alt.layer(*layers).properties(**sizes(layout))
