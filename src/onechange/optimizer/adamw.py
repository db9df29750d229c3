"""AdamW: Adam with weight decay apart from the gradient; vectors (norm gains) are not decayed.

Loshchilov and Hutter 2017, https://arxiv.org/abs/1711.05101
"""

from collections.abc import Iterable
from typing import final

import torch
from torch import nn

from onechange.optimizer import Optimizer


@final
class AdamW(Optimizer):
    """torch's fused AdamW."""

    def __init__(
        self,
        *,
        learning_rate: float = 3e-4,
        beta1: float = 0.9,
        beta2: float = 0.95,
        weight_decay: float = 0.1,
    ) -> None:
        if learning_rate <= 0:
            raise ValueError(f"optimizer.learning_rate = {learning_rate}: must be above 0")
        for key, value in (("beta1", beta1), ("beta2", beta2)):
            if not 0 <= value < 1:
                raise ValueError(f"optimizer.{key} = {value}: must be at least 0 and below 1")
        if weight_decay < 0:
            raise ValueError(f"optimizer.weight_decay = {weight_decay}: must be at least 0")
        self.learning_rate = learning_rate
        self.betas = (beta1, beta2)
        self.weight_decay = weight_decay

    def make(self, parameters: Iterable[tuple[str, nn.Parameter]]) -> torch.optim.Optimizer:
        named = list(parameters)
        groups = [
            {"params": [p for _, p in named if p.ndim >= 2], "weight_decay": self.weight_decay},
            {"params": [p for _, p in named if p.ndim < 2], "weight_decay": 0.0},
        ]
        return torch.optim.AdamW(groups, lr=self.learning_rate, betas=self.betas, fused=True)
