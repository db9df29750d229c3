"""What it costs: every arm's size, work, speed and memory, each beside its parent's."""

from onechange import costs
from onechange.report.digits import DASH, short, significant
from onechange.report.study import Arm, Study
from onechange.report.table import Cell
from onechange.report.wording import listed

COLUMNS: dict[costs.Cost, str] = {
    "parameters": "parameters",
    "operations_per_character": "operations per character",
    "tokens_per_second": "tokens per second",
    "characters_per_second": "characters per second",
    "peak_memory_bytes": "memory, MB",
}
_COUNTED: dict[costs.Cost, str] = {
    "parameters": "parameters",
    "operations_per_character": "operations per character",
}
"""What a sentence may be made of: a speed depends on what else the machine did."""


def rows(study: Study) -> list[tuple[Arm, list[Cell]]]:
    """One row per arm in the order of `COLUMNS`; empty in a study that has recorded none."""
    return [(arm, [_cell(arm, cost) for cost in COLUMNS]) for arm in study.arms if arm.record.get("costs")]


def words(study: Study) -> list[str]:
    """Per change, what of it can be counted and is another number of whole hundredths than the parent's."""
    told = []
    for arm in study.changed():
        ratios = {name: _entry(arm, cost).get("ratio") for cost, name in _COUNTED.items()}
        percents = {name: round(100 * (ratio - 1)) for name, ratio in ratios.items() if ratio is not None}
        parts = [
            f"{abs(percent)}% {'more' if percent > 0 else 'fewer'} {name}"
            for name, percent in percents.items()
            if percent
        ]
        if parts:
            told.append(f"{arm.name} has {listed(parts)} than {arm.parent}.")
    return told


def _cell(arm: Arm, cost: costs.Cost) -> Cell:
    entry = _entry(arm, cost)
    value, ratio = entry.get("value"), entry.get("ratio")
    if value is None:
        return Cell(DASH)
    parts = [] if ratio is None else [f"×\u00a0{ratio:.2f}"]
    low, high = entry.get("low"), entry.get("high")
    if low is not None and high is not None and _written(low, cost) != _written(high, cost):
        parts.append(f"{_written(low, cost)} to {_written(high, cost)}")
    return Cell(_written(value, cost), "; ".join(parts))


def _written(value: float, cost: costs.Cost) -> str:
    return significant(value / 1e6) if cost == "peak_memory_bytes" else short(value)


def _entry(arm: Arm, cost: str) -> dict[str, float | None]:
    return (arm.record.get("costs") or {}).get(cost) or {}
