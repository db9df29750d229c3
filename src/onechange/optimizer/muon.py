"""Muon: the running mean of a matrix's gradients made orthogonal; AdamW for tables and vectors.

m ← momentum · m + (1 − momentum) · gradient, weight ← weight · (1 − rate · decay) − rate · 0.2 · sqrt(larger side) ·
orthogonal(m), with orthogonal a few Newton–Schulz iterations in bf16. Jordan et al. 2024,
https://kellerjordan.github.io/posts/muon/. The factor gives updates the size of AdamW's, so that its rates and decay
serve both: Liu et al. 2025, https://arxiv.org/abs/2502.16982
"""

from collections.abc import Callable, Iterable
from typing import Any, final

import torch
from torch import nn

from onechange.optimizer import Optimizer


@final
class Muon(Optimizer):
    """torch's Muon for the matrices inside the blocks, torch's fused AdamW for all else.

    ``beta1`` and ``beta2`` are AdamW's. ``nesterov`` has Muon look ahead: the gradient is mixed into the mean once
    more. ``iterations`` are Newton–Schulz's.
    """

    def __init__(
        self,
        *,
        learning_rate: float = 3e-4,
        momentum: float = 0.95,
        nesterov: bool = True,
        iterations: int = 5,
        weight_decay: float = 0.1,
        beta1: float = 0.9,
        beta2: float = 0.95,
    ) -> None:
        if learning_rate <= 0:
            raise ValueError(f"optimizer.learning_rate = {learning_rate}: must be above 0")
        for key, value in (("momentum", momentum), ("beta1", beta1), ("beta2", beta2)):
            if not 0 <= value < 1:
                raise ValueError(f"optimizer.{key} = {value}: must be at least 0 and below 1")
        if not 1 <= iterations < 100:
            raise ValueError(f"optimizer.iterations = {iterations}: must be at least 1 and below 100")
        if weight_decay < 0:
            raise ValueError(f"optimizer.weight_decay = {weight_decay}: must be at least 0")
        self.learning_rate = learning_rate
        self.momentum = momentum
        self.nesterov = nesterov
        self.iterations = iterations
        self.weight_decay = weight_decay
        self.betas = (beta1, beta2)

    def make(self, parameters: Iterable[tuple[str, nn.Parameter]]) -> torch.optim.Optimizer:
        named = list(parameters)
        matrices = [p for name, p in named if _is_inside_a_block(name, p)]
        others = [p for name, p in named if not _is_inside_a_block(name, p)]
        muon = torch.optim.Muon(
            [{"params": matrices}],
            lr=self.learning_rate,
            momentum=self.momentum,
            nesterov=self.nesterov,
            ns_steps=self.iterations,
            weight_decay=self.weight_decay,
            adjust_lr_fn="match_rms_adamw",
        )
        groups = [
            {"params": [p for p in others if p.ndim >= 2], "weight_decay": self.weight_decay},
            {"params": [p for p in others if p.ndim < 2], "weight_decay": 0.0},
        ]
        adamw = torch.optim.AdamW(groups, lr=self.learning_rate, betas=self.betas, fused=True)
        return _Both(muon, adamw)


def _is_inside_a_block(name: str, parameter: nn.Parameter) -> bool:
    """Whether it is a matrix that is multiplied with, and not a table, whose rows are read one by one."""
    return name.startswith("blocks.") and name.endswith(".weight") and parameter.ndim == 2


class _Both(torch.optim.Optimizer):
    """Several optimizers as one: the groups of all of them, and one memory."""

    def __init__(self, *parts: torch.optim.Optimizer) -> None:
        super().__init__([group for part in parts for group in part.param_groups], {})
        self._parts = parts

    def step(self, closure: Callable[[], float] | None = None) -> Any:
        """One update of every parameter; there is no ``closure``."""
        assert closure is None, "losses are computed before"
        groups = iter(self.param_groups)
        for part in self._parts:
            part.param_groups = [next(groups) for _ in part.param_groups]
            part.state = self.state
            part.step()
