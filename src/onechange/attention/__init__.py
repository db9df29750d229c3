"""The family `attention`: how tokens look at the tokens before them. One file per kind."""

from abc import ABC, abstractmethod
from typing import ClassVar

from jaxtyping import Float, Int
from torch import Tensor, nn

from onechange.position import Position
from onechange.sizes import Sizes


class Attention(nn.Module, ABC):
    """Causal: a token sees itself and what stands before it.

    The layer that writes into the residual stream is named ``out``: its first weights are scaled by the depth.
    """

    version: ClassVar[int] = 1
    out: nn.Linear

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.sizes = sizes

    @abstractmethod
    def forward(
        self, x: Float[Tensor, "batch time width"], position: Position, positions: Int[Tensor, " time"]
    ) -> Float[Tensor, "batch time width"]:
        """What is added to the residual stream. ``position`` turns queries and keys and biases the scores."""
