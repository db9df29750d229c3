"""Best, last, overfitting: what training past the best step cost, and what choosing that step flatters."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from onechange.report.answer import decimals
from onechange.report.digits import DASH, between, plain, signed
from onechange.report.study import Arm, Study


@dataclass(frozen=True)
class Row:
    """One arm's figures as text, means over its runs, in the order of `columns`."""

    arm: Arm
    cells: tuple[str, ...]


def columns(study: Study) -> tuple[str, ...]:
    """What the table holds; with a test split also what the choice of the best step is worth there."""
    found = ("lowest at step", "rise by the end", "gap at the lowest", "gap at the end")
    choice = ("best gained on validation text", "best gained on test text", "flattered by")
    return found + (choice if any(_all(arm, "choosing") for arm in study.arms) else ())


def rows(study: Study) -> list[Row]:
    """One row per arm that has figures; empty where the study records none."""
    choice = len(columns(study)) > 4
    return [
        Row(arm, _cells(study, arm, choice))
        for arm in study.arms
        if _all(arm, "overfitting") or _all(arm, "choosing")
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


def _cells(study: Study, arm: Arm, choice: bool) -> tuple[str, ...]:
    digits, found = decimals(study), _all(arm, "overfitting")
    steps = [entry["step"] for entry in found if entry.get("step") is not None]
    rise = _mean(found, "rise")
    cells = [
        between(steps) if steps else DASH,
        DASH if rise is None else "none" if rise == 0 else plain(rise, digits),
        *(_plain(_mean(found, key), digits) for key in ("gap_at_best", "gap_at_last")),
    ]
    if choice:
        gains = _all(arm, "choosing")
        cells += [_plain(_mean(gains, key), digits) for key in ("gained_on_validation", "gained_on_test")]
        cost = _mean(gains, "cost")
        cells.append(DASH if cost is None else signed(cost, digits).removeprefix("+"))
    return tuple(cells)


def _all(arm: Arm, key: str) -> list[dict[str, Any]]:
    return [found for run in arm.runs if (found := run.get(key))]


def _mean(entries: Sequence[dict[str, Any]], key: str) -> float | None:
    known = [entry[key] for entry in entries if entry.get(key) is not None]
    return sum(known) / len(known) if known else None


def _plain(value: float | None, digits: int) -> str:
    return DASH if value is None else plain(value, digits)
