"""What an arm costs, beside its parent: size, operations, measured speed and memory.

Speed is over the whole of training, evaluations and checkpoints included, as the run's own clock has it: it depends on
the machine and on what else that did, other runs beside this one for instance. Size and operations depend on nothing.
"""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any, Literal, get_args

Cost = Literal[
    "parameters",
    "operations_per_character",
    "tokens_per_second",
    "characters_per_second",
    "peak_memory_bytes",
]
COSTS: tuple[Cost, ...] = get_args(Cost)


def costs(arm: Mapping[str, Any], parent: Mapping[str, Any] | None) -> dict[str, dict[str, float | None]]:
    """Each cost of an arm of `results.json`: its ``value``, of what is measured the median over finished runs with
    ``low`` and ``high`` for the ends, and the ``ratio`` to the parent's; ``None`` where nothing is known."""
    found = {}
    for cost in COSTS:
        known, others = _values(arm, cost), [] if parent is None else _values(parent, cost)
        value = median(known) if known else None
        ratio = value / median(others) if value is not None and others and median(others) else None
        ends = {"low": min(known), "high": max(known)} if known else {"low": None, "high": None}
        found[cost] = {"value": value, **ends, "ratio": ratio}
    return found


def speed(history: Sequence[Mapping[str, Any]], of: Literal["tokens", "characters"]) -> float | None:
    """How many ``of`` the training text a run went through in a second; ``None`` where it has no times."""
    timed = [row for row in history if row.get("seconds")]
    return timed[-1][of] / timed[-1]["seconds"] if timed else None


def _values(arm: Mapping[str, Any], cost: Cost) -> list[float]:
    finished = [run for run in arm["runs"] if run.get("status") == "finished"]
    places = [arm] if cost in ("parameters", "operations_per_character") else finished
    return [place[cost] for place in places if place.get(cost) is not None]
