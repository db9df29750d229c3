"""Nats per character by how much of the text a model has in view: a line per arm, a doubling from mark to mark."""

from typing import Any

from onechange.report import line_chart, where
from onechange.report.ladder import Layout
from onechange.report.still import compiled
from onechange.report.study import Study
from onechange.report.where import ACROSS, Across


def specification(study: Study, layout: Layout, across: Across) -> dict[str, Any] | None:
    """The lines at one width as Vega; None where fewer than two marks can be drawn."""
    rows = [row for row in where.lines(study, across) if row["drawn"]]
    marks = sorted({row["at"] for row in rows})
    if len(marks) < 2:
        return None
    values = [row["nats"] for row in rows]
    room = 0.05 * (max(values) - min(values)) or 0.1
    x = line_chart.doubling(marks, f"{ACROSS[across]}, up to")
    y = line_chart.upright("nats", (min(values) - room, max(values) + room), "nats per character")
    return compiled(line_chart.chart(rows, layout, x, y))
