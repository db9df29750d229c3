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
    """Each cost of an arm of `results.json`: its ``value`` (over runs the median) and the ``ratio`` to the parent's."""
    found = {}
    for cost in COSTS:
        own, other = _value(arm, cost), None if parent is None else _value(parent, cost)
        found[cost] = {"value": own, "ratio": own / other if own is not None and other else None}
    return found


def speed(history: Sequence[Mapping[str, Any]], of: Literal["tokens", "characters"]) -> float | None:
    """How many ``of`` the training text a run went through in a second; ``None`` where it has no times."""
    timed = [row for row in history if row.get("seconds")]
    return timed[-1][of] / timed[-1]["seconds"] if timed else None


def _value(arm: Mapping[str, Any], cost: Cost) -> float | None:
    if cost in ("parameters", "operations_per_character"):
        return arm.get(cost)
    finished = [run for run in arm["runs"] if run.get("status") == "finished"]
    known = [run[cost] for run in finished if run.get(cost) is not None]
    return median(known) if known else None
