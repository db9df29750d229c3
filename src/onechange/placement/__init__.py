"""The family `placement`: where a block's norms stand around what the block adds. One file per way."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar

from jaxtyping import Float
from torch import Tensor, nn

from onechange.norm import Norm
from onechange.sizes import Sizes


class Placement(nn.Module, ABC):
    """Around one part of a block, attention or mlp: the part is given `before` (x), and `after` (x, what the part
    made of it) is what goes on."""

    version: ClassVar[int] = 1

    def __init__(self, sizes: Sizes, norm: Callable[[], Norm]) -> None:
        """``norm`` makes a new norm of the model's kind."""
        super().__init__()
        self.sizes = sizes

    @abstractmethod
    def before(self, x: Float[Tensor, "... width"]) -> Float[Tensor, "... width"]:
        """What the part reads of the residual stream."""

    @abstractmethod
    def after(
        self, x: Float[Tensor, "... width"], made: Float[Tensor, "... width"]
    ) -> Float[Tensor, "... width"]:
        """The residual stream once the part has ``made`` its contribution."""

    @staticmethod
    def last(norm: Callable[[], Norm]) -> nn.Module:
        """What stands between the last block and the scores: a norm, unless the blocks end in one."""
        return norm()
