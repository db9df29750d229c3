"""Sweeps: one setting at several values, each an arm; the parent stands for its own value."""

from dataclasses import dataclass
from typing import Any

from onechange.report.answer import decimals
from onechange.report.digits import plain
from onechange.report.study import Arm, Study
from onechange.report.tuning import written


@dataclass(frozen=True)
class Point:
    """An arm at one value of the setting."""

    value: float
    arm: Arm


@dataclass(frozen=True)
class Sweep:
    """The arms that vary one setting of one parent, and the parent where its own value is known, by value."""

    name: str
    setting: str
    parent: str
    points: tuple[Point, ...]

    @property
    def measured(self) -> list[Point]:
        return [point for point in self.points if point.arm.best is not None]

    @property
    def logarithmic(self) -> bool:
        """Whether the values are better spaced by ratio: all above zero, the largest 8 times the smallest or more."""
        values = [point.value for point in self.points]
        return min(values) > 0 and max(values) >= 8 * min(values)

    @property
    def words(self) -> str:
        """The setting as people say it: ``position theta``."""
        return self.setting.replace(".", " ").replace("_", " ")


def sweeps(study: Study) -> list[Sweep]:
    """Every sweep over numbers with two points or more, in the study's order."""
    found: dict[tuple[str, str], list[Arm]] = {}
    for arm in study.changed():
        record = arm.record.get("sweep") or {}
        if record.get("setting") and _number(record.get("value")) is not None:
            found.setdefault((str(record.get("name")), arm.parent or ""), []).append(arm)
    return [sweep for key, arms in found.items() if len((sweep := _sweep(study, *key, arms)).points) > 1]


def lowest(study: Study, sweep: Sweep) -> str | None:
    """Which value has the lowest figure, and whether it is at the edge, in a sentence; None without two figures."""
    points = sweep.measured
    if len(points) < 2:
        return None
    best = min(points, key=lambda point: point.arm.best.nats_per_character if point.arm.best else 0.0)
    assert best.arm.best is not None
    text = (
        f"Lowest at {written(best.value)}, with {plain(best.arm.best.nats_per_character, decimals(study))}."
    )
    if best in (points[0], points[-1]):
        text += " That is the edge of what was tried: a better value may lie beyond it."
    return text + " Which differences are more than luck, the verdicts say."


def _sweep(study: Study, name: str, parent: str, arms: list[Arm]) -> Sweep:
    setting = str(arms[0].record["sweep"]["setting"])
    points = [Point(float(arm.record["sweep"]["value"]), arm) for arm in arms]
    stem = next((arm for arm in study.arms if arm.name == parent), None)
    if stem is not None and (own := _own(stem, setting)) is not None:
        points.append(Point(own, stem))
    return Sweep(name, setting, parent, tuple(sorted(points, key=lambda point: point.value)))


def _own(arm: Arm, setting: str) -> float | None:
    """The arm's own value of a setting, as ``position.theta`` or ``width`` names it."""
    value: Any = arm.record.get("settings") or {}
    if setting.startswith("tokenizer."):
        value = {"tokenizer": arm.record.get("tokenizer") or {}}
    for key in setting.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return _number(value)


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
