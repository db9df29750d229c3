"""Where a run begins to overfit, and how far training and validation text lie apart, read off its history."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Overfitting:
    """All in nats per character, by the evaluations during training."""

    step: int
    """The overfitting point: where validation was lowest, the earliest among equals."""
    nats_per_character: float
    """Of the validation text there."""
    rise: float
    """How far validation has risen by the last evaluation; 0 where the lowest is the last."""
    gap_at_best: float
    """Validation minus training at the overfitting point."""
    gap_at_last: float
    """The same at the last evaluation."""


def overfitting(history: Sequence[Mapping[str, Any]]) -> Overfitting | None:
    """The figures of one run; None where no evaluation has both texts. Rows as in `metrics.jsonl`."""
    rows = [row for row in history if None not in (_validation(row), _training(row))]
    if not rows:
        return None
    best, last = min(rows, key=_validation), rows[-1]
    return Overfitting(
        step=best["step"],
        nats_per_character=_validation(best),
        rise=_validation(last) - _validation(best),
        gap_at_best=_validation(best) - _training(best),
        gap_at_last=_validation(last) - _training(last),
    )


def _validation(row: Mapping[str, Any]) -> Any:
    return row["validation_nats_per_character"]


def _training(row: Mapping[str, Any]) -> Any:
    return row["training_nats_per_character"]
