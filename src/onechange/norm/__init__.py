"""The family `norm`: what keeps the size of the activations in bounds. One file per kind."""

from abc import ABC, abstractmethod
from typing import ClassVar

from jaxtyping import Float
from torch import Tensor, nn

from onechange.sizes import Sizes


class Norm(nn.Module, ABC):
    """Applied to every token's features apart."""

    version: ClassVar[int] = 1

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.sizes = sizes

    @abstractmethod
    def forward(self, x: Float[Tensor, "... width"]) -> Float[Tensor, "... width"]:
        """The normalised features, of the type of ``x``; statistics in float32."""
