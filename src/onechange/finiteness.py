"""When a loss or a gradient is not a number any more: name the first culprit, then stop or leave the step out."""

from typing import Any, Literal, get_args

from torch import nn

OnNonfinite = Literal["stop", "skip"]
MOST_IN_A_ROW = 100
"""A run that leaves out more steps than this one after the other will not recover."""


class NotFinite(ArithmeticError):
    """A loss or a gradient that is not a number any more; the message names the step."""


def checked(word: str) -> OnNonfinite:
    """``stop`` or ``skip``; a `ValueError` for anything else."""
    if word not in get_args(OnNonfinite):
        raise ValueError(f"--on-nonfinite {word!r}: must be one of {', '.join(get_args(OnNonfinite))}")
    return "skip" if word == "skip" else "stop"


def first_culprit(model: nn.Module) -> str:
    """The first weight that is not finite, or else the first gradient, in the model's order, as a clause."""
    for name, parameter in model.named_parameters():
        if not parameter.isfinite().all():
            return f"the first weight that is not finite is {name}"
    for name, parameter in model.named_parameters():
        if parameter.grad is not None and not parameter.grad.isfinite().all():
            return f"all weights are finite, the first gradient that is not is that of {name}"
    return "all weights are finite"


class LeftOut:
    """Counts the steps of a run whose update was left out; its `state` belongs into every checkpoint."""

    def __init__(self, policy: OnNonfinite, state: dict[str, Any]) -> None:
        self.policy = policy
        self.total: int = state.get("left_out", 0)
        self.in_a_row: int = state.get("left_out_in_a_row", 0)

    @property
    def state(self) -> dict[str, int]:
        """What a resumed run needs to know."""
        return {"left_out": self.total, "left_out_in_a_row": self.in_a_row}

    def made(self) -> None:
        """A step was made as it should."""
        self.in_a_row = 0

    def leave_out(self, error: NotFinite, model: nn.Module) -> None:
        """Count a step whose update was refused; raises ``error`` where the run is to stop."""
        if self.policy == "stop" or not all(bool(p.isfinite().all()) for p in model.parameters()):
            raise error
        self.total += 1
        self.in_a_row += 1
        if self.in_a_row > MOST_IN_A_ROW:
            raise NotFinite(f"{error}; {MOST_IN_A_ROW} steps before it were left out for the same reason")
