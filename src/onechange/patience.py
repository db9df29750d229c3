"""Early stopping: a run ends when so many evaluations in a row have brought no new lowest validation loss."""

from collections.abc import Mapping, Sequence
from typing import Any

from onechange.history import best


def exhausted(rows: Sequence[Mapping[str, Any]], patience: int) -> bool:
    """Whether a run with this history is over; ``patience`` 0 waits for ever. An equal loss is no new lowest one."""
    if not patience or not rows:
        return False
    lowest = best(rows)
    return sum(row["step"] > lowest for row in rows) >= patience
