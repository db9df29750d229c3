"""The differences: what every change made, seed by seed, beside what a seed alone makes."""

from dataclasses import dataclass
from typing import Any

from onechange.report.answer import change, decimals
from onechange.report.digits import DASH, plain, signed, significant
from onechange.report.study import JUDGED, Arm, Study


@dataclass(frozen=True)
class Row:
    """One change at best, in nats per character: arm minus parent, negative is better.

    ``floor`` is the noise floor: how far two runs of one and the same model lie apart. None below two seeds.
    """

    arm: Arm
    difference: float
    low: float | None
    high: float | None
    seeds: tuple[tuple[int, float], ...]
    floor: float | None
    verdict: str


def rows(study: Study) -> list[Row]:
    """One row per change whose difference is on record, in the study's order."""
    found = [(arm, arm.versus("best")) for arm in study.changed()]
    return [_row(arm, record) for arm, record in found if record is not None]


def details(study: Study) -> list[tuple[Row, list[str]]]:
    """For every row the texts of `DETAILS`."""
    digits = decimals(study)
    return [(row, _details(row, row.arm.versus("best") or {}, digits)) for row in rows(study)]


DETAILS = (
    "difference",
    "95% interval",
    "seed by seed",
    "noise floor",
    "p",
    "Holm’s p",
    "verdict",
    "after Holm",
)


def marks(study: Study) -> str:
    """What stands in the chart besides the noise floor."""
    if all(len(row.seeds) < 2 for row in rows(study)):
        return "The mark is the difference, the bar its 95% interval over the text alone."
    return "The large mark is the mean over seeds with its 95% interval, the small ones beneath it are the seeds."


def noise(study: Study) -> str:
    """What the band in the chart is, or why there is none."""
    known = [row.floor for row in rows(study) if row.floor is not None]
    if not known:
        return (
            "There is no band for the noise floor, which is how far two runs of one and the same model lie apart: "
            "that shows only where a model was trained with two seeds or more."
        )
    digits = decimals(study)
    apart = " to ".join(dict.fromkeys(plain(value, digits) for value in (min(known), max(known))))
    return (
        "The grey band is the noise floor: two runs of one and the same model, equal but for the seed of their "
        f"random numbers, lie about {apart} apart. A single run that differs from another by less than that "
        "shows nothing. A mean over several seeds can be told from zero within the band, since chance cancels "
        "out in it; the interval says how far."
    )


def words(study: Study) -> str:
    """The chart in sentences, for those who do not see it."""
    digits = decimals(study)
    told = []
    for row in rows(study):
        text = f"{row.arm.name}, {change(study, row.arm, brief=True)}: {signed(row.difference, digits)}"
        if row.low is not None and row.high is not None:
            text += f" (95% interval {signed(row.low, digits)} to {signed(row.high, digits)})"
        if row.floor is not None:
            text += f", noise floor {plain(row.floor, digits)}"
        told.append(f"{text}, {row.verdict}")
    return "Difference of each arm to its parent in nats per character. " + "; ".join(told) + "."


def _row(arm: Arm, record: dict[str, Any]) -> Row:
    return Row(
        arm=arm,
        difference=record["nats_per_character_difference"],
        low=record.get("low"),
        high=record.get("high"),
        seeds=tuple((found["seed"], found["difference"]) for found in record.get("seed_differences") or []),
        floor=record.get("noise_floor"),
        verdict=record["verdict"],
    )


def _details(row: Row, record: dict[str, Any], digits: int) -> list[str]:
    holm = record.get("holm") or {}
    return [
        signed(row.difference, digits),
        DASH
        if row.low is None or row.high is None
        else f"{signed(row.low, digits)} to {signed(row.high, digits)}",
        ", ".join(signed(difference, digits) for _, difference in row.seeds) or DASH,
        DASH if row.floor is None else plain(row.floor, digits),
        _probability(record.get("p")),
        _probability(holm.get("p")),
        row.verdict,
        str(holm.get("verdict") or DASH) if row.verdict in JUDGED else DASH,
    ]


def _probability(p: float | None) -> str:
    if p is None:
        return DASH
    return "< 0.0001" if p < 0.0001 else significant(p, 2)
