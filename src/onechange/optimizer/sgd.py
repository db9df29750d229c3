"""Stochastic gradient descent: the mean of recent gradients times a rate, the same for every weight.

v ← momentum · v + gradient, weight ← weight − rate · v; with nesterov, − rate · (gradient + momentum · v). Polyak 1964
(heavy ball); Sutskever et al. 2013, https://proceedings.mlr.press/v28/sutskever13.html
"""

from collections.abc import Iterable
from typing import final

import torch
from torch import nn

from onechange.optimizer import Optimizer


@final
class Sgd(Optimizer):
    """torch's fused SGD; ``weight_decay`` times the weight is added to a matrix's gradient, vectors are not decayed.

    Where AdamW divides every weight's update by its gradients' size, here it is small where they are: the rate must be
    hundreds of times AdamW's.
    """

    def __init__(
        self,
        *,
        learning_rate: float = 0.1,
        momentum: float = 0.9,
        nesterov: bool = False,
        weight_decay: float = 0.0,
    ) -> None:
        if learning_rate <= 0:
            raise ValueError(f"optimizer.learning_rate = {learning_rate}: must be above 0")
        if not 0 <= momentum < 1:
            raise ValueError(f"optimizer.momentum = {momentum}: must be at least 0 and below 1")
        if nesterov and not momentum:
            raise ValueError(
                f"optimizer.momentum = {momentum}: must be above 0 where optimizer.nesterov = true"
            )
        if weight_decay < 0:
            raise ValueError(f"optimizer.weight_decay = {weight_decay}: must be at least 0")
        self.learning_rate = learning_rate
        self.momentum = momentum
        self.nesterov = nesterov
        self.weight_decay = weight_decay

    def make(self, parameters: Iterable[tuple[str, nn.Parameter]]) -> torch.optim.Optimizer:
        named = list(parameters)
        groups = [
            {"params": [p for _, p in named if p.ndim >= 2], "weight_decay": self.weight_decay},
            {"params": [p for _, p in named if p.ndim < 2], "weight_decay": 0.0},
        ]
        return torch.optim.SGD(
            groups, lr=self.learning_rate, momentum=self.momentum, nesterov=self.nesterov, fused=True
        )
