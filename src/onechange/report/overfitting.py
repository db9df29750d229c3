"""Best, last, overfitting: what training past the best step cost, and what choosing that step flatters."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from onechange.report.answer import decimals
from onechange.report.digits import DASH, MINUS, between, plain
from onechange.report.study import Arm, Study


@dataclass(frozen=True)
class Row:
    """One arm's figures as text, means over its runs, in the order of the table's columns."""

    arm: Arm
    cells: tuple[str, ...]


COLUMNS = ("lowest at step", "rise by the end", "gap at the lowest", "gap at the end")
CHOOSING = ("gained on validation text", "gained on test text", "flattered by")


def rows(study: Study) -> list[Row]:
    """One row of `COLUMNS` per arm that has the figures; empty where the study records none."""
    digits = decimals(study)
    found = [(arm, _all(arm, "overfitting")) for arm in study.arms]
    return [Row(arm, _ends(entries, digits)) for arm, entries in found if entries]


def choosing(study: Study) -> list[Row]:
    """One row of `CHOOSING` per arm with a test split: what its best checkpoint has less than its last."""
    digits = decimals(study)
    found = [(arm, _all(arm, "choosing")) for arm in study.arms]
    keys = ("gained_on_validation", "gained_on_test", "cost")
    return [
        Row(arm, tuple(_plain(_mean(entries, key), digits) for key in keys))
        for arm, entries in found
        if entries
    ]


def stopped(study: Study) -> list[str]:
    """One sentence per arm with runs that stopped early, so that they do not read as unfinished."""
    found = []
    for arm in study.arms:
        early = [run for run in arm.runs if run.get("stopped_early")]
        if early:
            of = f" of {arm.record['steps']:,}" if arm.record.get("steps") else ""
            all_or_some = f"{len(early)} of {len(arm.runs)} runs" if len(arm.runs) > 1 else "the run"
            steps = between([run["steps"] for run in early])
            found.append(f"{arm.name}: {all_or_some} stopped early, at step {steps}{of}.")
    return found


def flattered(study: Study) -> str | None:
    """What choosing on validation text cost, in a sentence; None without a test split."""
    costs = [found["cost"] for arm in study.arms for found in _all(arm, "choosing")]
    if not costs:
        return None
    mean = sum(costs) / len(costs)
    size = plain(abs(mean), decimals(study))
    if float(size) == 0:
        return "Here the choice flatters by nothing that the digits of this page show."
    how = "flatters its figure on validation text by" if mean > 0 else "gained more on test text, by"
    return f"Here the choice of the best step {how} {size} nats per character on average over the runs."


def _ends(entries: Sequence[dict[str, Any]], digits: int) -> tuple[str, ...]:
    steps = [entry["step"] for entry in entries if entry.get("step") is not None]
    rise = _mean(entries, "rise")
    return (
        between(steps) if steps else DASH,
        "none" if rise == 0 else _plain(rise, digits),
        _plain(_mean(entries, "gap_at_best"), digits),
        _plain(_mean(entries, "gap_at_last"), digits),
    )


def _all(arm: Arm, key: str) -> list[dict[str, Any]]:
    """Of the runs that have ended; before any has, of those that are on their way."""
    ended = [run for run in arm.runs if run.get("status") == "finished"]
    return [found for run in ended or arm.runs if (found := run.get(key))]


def _mean(entries: Sequence[dict[str, Any]], key: str) -> float | None:
    known = [entry[key] for entry in entries if entry.get(key) is not None]
    return sum(known) / len(known) if known else None


def _plain(value: float | None, digits: int) -> str:
    if value is None:
        return DASH
    text = plain(value, digits)
    return text.removeprefix(MINUS) if set(text) <= set(f"{MINUS}0.") else text
