"""When a run stops: an amount of one thing, turned into steps before training, so that the schedule knows its end."""

import math
from collections.abc import Mapping
from typing import Any

KINDS: dict[str, type] = {
    "steps": int,
    "tokens": int,
    "characters": int,
    "operations": float,
    "seconds": float,
}
"""What a budget may be counted in; ``characters`` are those of the text, ``operations`` floating-point ones."""

ROUGH_OPERATIONS_PER_SECOND = 1e10
"""What any processor of today does; only to tell a run of seconds from one of minutes."""


def checked(value: Any) -> dict[str, Any]:
    """A budget as a study writes it, ``{ steps = 1000 }``; a `ValueError` shows what is allowed."""
    if isinstance(value, dict) and len(value) == 1:
        ((kind, amount),) = value.items()
        if kind in KINDS and type(amount) in (int, KINDS[kind]) and math.isfinite(amount) and amount > 0:
            return {kind: KINDS[kind](amount)}
    raise ValueError(
        f"budget = {value!r}: must be {{ steps = N }}, or N of one of {', '.join([*KINDS][1:])} in its place; "
        "N is a number above 0, a whole one but for operations and seconds"
    )


def kind(budget: Mapping[str, Any]) -> str:
    """What the budget is counted in."""
    (found,) = budget
    return found


def steps(
    budget: Mapping[str, Any],
    *,
    tokens: int,
    characters_per_token: float,
    operations_per_token: float,
    seconds_per_step: float | None,
) -> int:
    """The whole number of steps that comes nearest to ``budget``, at least one.

    ``tokens`` are those of a step. ``seconds_per_step`` need only be known where the budget is one of seconds.
    """
    ((counted, amount),) = budget.items()
    if counted == "seconds" and not seconds_per_step:
        raise ValueError(
            "a budget in seconds needs the seconds of a step: it is resolved where a study begins"
        )
    per_step = {
        "steps": 1,
        "tokens": tokens,
        "characters": tokens * characters_per_token,
        "operations": tokens * operations_per_token,
        "seconds": seconds_per_step,
    }[counted]
    assert per_step
    return max(1, round(amount / per_step))


def rough_operations(settings: Mapping[str, Any]) -> float:
    """About how many operations a run of these settings is, by what is known of it before its text is read."""
    ((counted, amount),) = settings["budget"].items()
    if counted == "operations":
        return amount
    if counted == "seconds":
        return amount * ROUGH_OPERATIONS_PER_SECOND
    window = settings["window"]
    tokens = settings["batch"] * (window["characters"] if isinstance(window, dict) else window)
    # 12 · layers · width² weights of a usual block, each used six times a token.
    return (
        (amount * tokens if counted == "steps" else amount) * 72 * settings["layers"] * settings["width"] ** 2
    )
