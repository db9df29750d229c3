"""The family `embedding`: which table the next token's scores are taken from. One file per way."""

from abc import ABC, abstractmethod
from typing import ClassVar

from jaxtyping import Float
from torch import Tensor, nn

from onechange.sizes import Sizes


class Embedding(nn.Module, ABC):
    """The table that reads tokens is the model's own, whatever the member."""

    version: ClassVar[int] = 1

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.sizes = sizes

    @abstractmethod
    def forward(self, reading: Float[Tensor, "vocabulary width"]) -> Float[Tensor, "vocabulary width"]:
        """The table whose products with the features are the scores, given the one that reads tokens."""
