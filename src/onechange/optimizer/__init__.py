"""The family `optimizer`: how gradients become updates. One file per rule."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import ClassVar

import torch
from torch import nn


class Optimizer(ABC):
    """Every member has the setting ``learning_rate``, the peak that the schedule scales at every step."""

    version: ClassVar[int] = 1
    learning_rate: float

    @abstractmethod
    def make(self, parameters: Iterable[tuple[str, nn.Parameter]]) -> torch.optim.Optimizer:
        """torch's optimizer over the named ``parameters``, at the peak rate."""
