"""The curves: nats per character of validation and training text as training went on."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from onechange.report.study import Arm, Study

AXES = {
    "step": "steps",
    "tokens": "tokens",
    "characters": "characters",
    "operations": "operations",
    "seconds": "seconds",
}


def rows(study: Study) -> list[dict[str, Any]]:
    """One row per arm and evaluation: means over the arm's finished runs, or over all if none has."""
    return [row for arm in study.arms for row in _rows(arm)]


def overfitting(study: Study) -> list[tuple[Arm, int, float]]:
    """Arms whose validation rose after its lowest evaluation: the step of that, and the rise by the end."""
    found = []
    for arm in study.arms:
        curve = [(row["validation"], row["step"]) for row in _rows(arm) if row["validation"] is not None]
        if curve and curve[-1][0] > min(curve)[0]:
            lowest = min(curve)
            found.append((arm, lowest[1], curve[-1][0] - lowest[0]))
    return found


def clipped(study: Study) -> bool:
    """Whether some evaluations lie above the picture."""
    points = rows(study)
    return bool(points) and any(
        row["validation"] > domain(points, study.validation_floor)[1] for row in points if row["validation"]
    )


def domain(points: list[dict[str, Any]], floor: float | None) -> tuple[float, float]:
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


def _values(entries: Sequence[dict[str, Any]], key: str) -> list[float]:
    return [entry[key] for entry in entries if entry.get(key) is not None]


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None
