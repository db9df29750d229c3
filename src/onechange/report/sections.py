"""The page's sections about differences, equal amounts, overfitting, tuning, sweeps, probes, costs and stories."""

from collections.abc import Callable
from typing import Any

import altair as alt
from markupsafe import Markup

from onechange.report import (
    correction,
    costs,
    differences,
    differences_chart,
    equal,
    judged_text,
    ladder,
    longer,
    looking,
    overfitting,
    probes,
    shifted,
    still,
    story_section,
    sweeps,
    sweeps_chart,
    tuning,
    tuning_chart,
    tuning_table,
)
from onechange.report.answer import decimals
from onechange.report.digits import DASH, plain
from onechange.report.study import Study
from onechange.report.sweeps import Sweep


def sections(study: Study) -> dict[str, Any]:
    """One entry per section, None or empty where the study has nothing for it."""
    return {
        "judged_text": judged_text.sentence(study),
        "differences": _differences(study),
        "equal": equal.readings(study),
        "ends": _ends(study),
        "tuning": _tuning(study),
        "sweeps": [_sweep(study, sweep, number) for number, sweep in enumerate(sweeps.sweeps(study))],
        "probes": _probes(study),
        "costs": _costs(study),
        "measured": story_section.section(study),
    }


def pictures(draw: Callable[[ladder.Layout], alt.TopLevelMixin | None], prefix: str) -> dict[str, Markup]:
    """A chart at every width as inline SVG; empty where there is nothing to draw."""
    drawn = {name: draw(layout) for name, layout in ladder.LAYOUTS.items()}
    return {
        name: Markup(still.svg(still.compiled(chart), f"{prefix}-{name}"))
        for name, chart in drawn.items()
        if chart is not None
    }


def _differences(study: Study) -> dict[str, Any] | None:
    details = differences.details(study)
    if not details:
        return None
    return {
        "chart": pictures(lambda layout: differences_chart.chart(study, layout), "differences"),
        "words": differences.words(study),
        "marks": differences.marks(study),
        "noise": differences.noise(study),
        "correction": correction.sentence(study),
        "heads": differences.DETAILS,
        "details": details,
    }


def _ends(study: Study) -> dict[str, Any] | None:
    rows, choosing = overfitting.rows(study), overfitting.choosing(study)
    stopped = overfitting.stopped(study)
    if not rows and not choosing and not stopped:
        return None
    return {
        "columns": overfitting.COLUMNS,
        "rows": rows,
        "choices": overfitting.CHOOSING,
        "chosen": choosing,
        "stopped": stopped,
        "flattered": overfitting.flattered(study),
    }


def _tuning(study: Study) -> dict[str, Any] | None:
    found = tuning.tuned(study)
    if not found:
        return None
    return {
        "setting": tuning.setting(study),
        "chart": pictures(lambda layout: tuning_chart.chart(study, layout), "tuning"),
        "arms": [(entry, [tuning_table.cells(study, c) for c in entry.candidates]) for entry in found],
        "verdicts": tuning_table.verdicts(study),
        "sentence": tuning.sentence(study),
        "edges": tuning.edges(study),
    }


def _sweep(study: Study, sweep: Sweep, number: int) -> dict[str, Any]:
    rows = [
        (point.arm, tuning.written(point.value), *_point(point, decimals(study)), _standing(point, sweep))
        for point in sweep.points
    ]
    enough = len(sweep.measured) > 1
    return {
        "sweep": sweep,
        "chart": pictures(lambda layout: sweeps_chart.chart(sweep, layout), f"sweep-{number}")
        if enough
        else {},
        "rows": rows,
        "lowest": sweeps.lowest(study, sweep),
    }


def _point(point: sweeps.Point, digits: int) -> tuple[str, str]:
    best = point.arm.best
    if best is None:
        return DASH, DASH
    low, high = best.low, best.high
    interval = DASH if low is None or high is None else f"{plain(low, digits)} to {plain(high, digits)}"
    return plain(best.nats_per_character, digits), interval


def _standing(point: sweeps.Point, sweep: Sweep) -> str:
    if point.arm.name == sweep.parent:
        return "the parent"
    return str((point.arm.versus("best") or {}).get("verdict") or DASH)


def _probes(study: Study) -> dict[str, Any] | None:
    if not probes.asked(study):
        return None
    return {
        "arms": [arm for arm in study.arms if probes.probes(arm)],
        "longer": _longer(study),
        "shift": _shift(study),
        "looks": looking.looks(study),
        "looks_words": looking.words(study),
        "looks_most": f"{looking.most(study):.0%}",
    }


def _longer(study: Study) -> dict[str, Any]:
    return {
        "words": longer.words(study),
        "titles": list(longer.TITLES.values()),
        "rows": longer.rows(study),
        "lines": longer.lines(study),
        "chart": pictures(lambda layout: longer.chart(study, layout), "longer"),
    }


def _shift(study: Study) -> dict[str, Any] | None:
    rows = shifted.rows(study)
    if not rows:
        return None
    return {
        "words": shifted.words(study),
        "columns": shifted.COLUMNS,
        "rows": rows,
        "lines": shifted.lines(study),
        "charts": {
            "kl": pictures(lambda layout: shifted.chart(study, layout, "kl"), "shift-kl"),
            "change": pictures(lambda layout: shifted.chart(study, layout, "change"), "shift-change"),
        },
    }


def _costs(study: Study) -> dict[str, Any] | None:
    rows = costs.rows(study)
    if not rows:
        return None
    return {"columns": list(costs.COLUMNS.values()), "rows": rows, "words": costs.words(study)}
