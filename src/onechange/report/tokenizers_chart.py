"""The chart of a comparison of tokenizers: a bar of characters per token for each, and what the embedding takes."""

from typing import Any

import altair as alt

from onechange.report.ladder import INK, MUTED, Layout, marked, shortened
from onechange.report.marks import colour
from onechange.tokenizer_compare import Comparison

TEXT = 64
"""Pixels kept free beside a bar for its figure."""
HEAD = 20
"""Pixels from a row's name to its bars."""


def chart(found: Comparison, layout: Layout) -> alt.TopLevelMixin:
    """One row per tokenizer; the two bars side by side, or one above the other where it is narrow."""
    bars: list[dict[str, Any]] = []
    ticks: list[dict[str, Any]] = []
    words: list[dict[str, Any]] = []
    stacked = layout.brief
    row = 68 if stacked else 50
    second = 0 if stacked else layout.plot * 0.64
    across = (layout.plot if stacked else second - 24) - TEXT
    across_share = layout.plot - second - TEXT
    most = max(
        value
        for entry in found.entries
        for value in (entry.figures.density[0], entry.figures.training.characters_per_token or 0)
    )
    for number, entry in enumerate(found.entries):
        top = row * number + HEAD
        value, share = entry.figures.density[0], entry.figures.embedding_share
        end, training = (
            across * each / most for each in (value, entry.figures.training.characters_per_token or 0)
        )
        below = top + (20 if stacked else 0)
        bars += [
            {"x": 0, "x2": end, "y": top, "y2": top + 14, "colour": colour(number), "opacity": 1},
            {
                "x": second,
                "x2": second + across_share * share,
                "y": below + (0 if stacked else 2),
                "y2": below + (8 if stacked else 12),
                "colour": MUTED,
                "opacity": 0.75,
            },
        ]
        ticks.append({"x": training, "y": top - 3, "y2": top + 17})
        words += [
            _word(0, top - 10, shortened(entry.label, 0.75 * layout.plot), layout, bold=True),
            _word(max(end, training) + 8, top + 7, f"{value:.2f}", layout),
            _word(second + across_share * share + 8, below + (4 if stacked else 7), f"{share:.0%}", layout),
        ]
    x = alt.X("x:Q", scale=alt.Scale(domain=[0, layout.plot], nice=False), axis=None)
    height = row * len(found.entries)
    y = alt.Y("y:Q", scale=alt.Scale(domain=[0, height], reverse=True, nice=False), axis=None)
    layers = [
        marked(bars)
        .mark_rect(color={"expr": "datum.colour"}, opacity={"expr": "datum.opacity"})
        .encode(x2="x2:Q", y2="y2:Q"),
        marked(ticks).mark_rule(color=INK, strokeWidth=2).encode(y2="y2:Q"),
        marked(words)
        .mark_text(
            align="left",
            baseline="middle",
            fontSize={"expr": "datum.size"},
            fontWeight={"expr": "datum.bold ? 600 : 400"},
            color=INK,
        )
        .encode(text="text:N"),
    ]
    return alt.layer(*(layer.encode(x=x, y=y) for layer in layers)).properties(
        width=layout.plot,
        height=height,
        padding={"left": 2, "right": 2, "top": 4, "bottom": 4},
        autosize=alt.AutoSizeParams(type="none"),
    )


def _word(x: float, y: float, text: str, layout: Layout, bold: bool = False) -> dict[str, Any]:
    return {"x": x, "y": y, "text": text, "size": layout.font, "bold": bold}
