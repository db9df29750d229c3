"""At equal steps, text, operations and time: the difference read off the runs' own histories."""

from dataclasses import dataclass
from typing import Any

from onechange.report.answer import decimals
from onechange.report.digits import DASH, count, seconds, short, signed
from onechange.report.study import Arm, Study

AXES = {"steps": "steps", "characters": "text", "operations": "operations", "seconds": "time"}


@dataclass(frozen=True)
class Reading:
    """One difference at an equal amount of something, in words; ``fair`` is whether it may be read as it stands."""

    axis: str
    at: str
    difference: str
    interval: str
    shares: str
    fair: bool
    why: str


def readings(study: Study) -> list[tuple[Arm, list[Reading]]]:
    """For every change that has any, its readings in the order of `AXES`."""
    digits = decimals(study)
    found = [(arm, arm.record.get("at_equal") or {}) for arm in study.changed()]
    told = [
        (arm, [_reading(axis, record[axis], digits) for axis in AXES if record.get(axis)])
        for arm, record in found
    ]
    return [(arm, entries) for arm, entries in told if entries]


def _reading(axis: str, record: dict[str, Any], digits: int) -> Reading:
    low, high = record.get("low"), record.get("high")
    return Reading(
        axis=AXES[axis],
        at=_amount(axis, record["at"]),
        difference=signed(record["nats_per_character_difference"], digits),
        interval="" if low is None or high is None else f"{signed(low, digits)} to {signed(high, digits)}",
        shares=f"{_share(record.get('arm_share'))} and {_share(record.get('parent_share'))}",
        fair=record.get("fair") is not False,
        why=str(record.get("why") or ""),
    )


def _amount(axis: str, value: float) -> str:
    if axis == "seconds":
        return seconds(value)
    return f"step {count(value)}" if axis == "steps" else f"{short(value)} {axis}"


def _share(value: float | None) -> str:
    return DASH if value is None else f"{100 * value:.0f}%"
