"""The family `mlp`: what a block does to each token apart. One file per kind."""

from abc import ABC, abstractmethod
from typing import ClassVar

from jaxtyping import Float
from torch import Tensor, nn

from onechange.sizes import Sizes


class Mlp(nn.Module, ABC):
    """The layer that writes into the residual stream is named ``out``: its first weights are scaled by the depth.

    Every member has the setting ``hidden``, how many features there are between; 0 stands for as many as give 8 ·
    ``width``² parameters, to within 1%, so that a change of member is no change of size.
    """

    version: ClassVar[int] = 1
    out: nn.Linear

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.sizes = sizes

    @abstractmethod
    def forward(self, x: Float[Tensor, "... width"]) -> Float[Tensor, "... width"]:
        """What is added to the residual stream."""
