"""What it costs: every arm's size, work, speed and memory, each beside its parent's."""

from onechange import costs
from onechange.report.digits import DASH, short
from onechange.report.study import Arm, Study
from onechange.report.table import Cell
from onechange.report.wording import listed

COLUMNS: dict[costs.Cost, str] = {
    "parameters": "parameters",
    "operations_per_character": "operations per character",
    "tokens_per_second": "tokens per second",
    "characters_per_second": "characters per second",
    "peak_memory_bytes": "memory, bytes",
}
_NOTABLE = 0.03


def rows(study: Study) -> list[tuple[Arm, list[Cell]]]:
    """One row per arm in the order of `COLUMNS`; empty in a study that has recorded none."""
    return [(arm, [_cell(arm, cost) for cost in COLUMNS]) for arm in study.arms if arm.record.get("costs")]


def words(study: Study) -> list[str]:
    """Per change, what it costs beside its parent where that is more than a few hundredths."""
    told = []
    for arm in study.changed():
        found = {
            name: round(100 * (ratio - 1))
            for name, cost in (
                ("parameters", "parameters"),
                ("operations per character", "operations_per_character"),
                ("characters read per second", "characters_per_second"),
            )
            if (ratio := _entry(arm, cost).get("ratio")) is not None and abs(ratio - 1) >= _NOTABLE
        }
        parts = [
            f"{abs(percent)}% {'more' if percent > 0 else 'fewer'} {name}" for name, percent in found.items()
        ]
        if parts:
            told.append(f"{arm.name} has {listed(parts)} than {arm.parent}.")
    return told


def _cell(arm: Arm, cost: costs.Cost) -> Cell:
    entry = _entry(arm, cost)
    value, ratio = entry.get("value"), entry.get("ratio")
    return Cell(DASH) if value is None else Cell(short(value), "" if ratio is None else f"× {ratio:.2f}")


def _entry(arm: Arm, cost: str) -> dict[str, float | None]:
    return (arm.record.get("costs") or {}).get(cost) or {}
