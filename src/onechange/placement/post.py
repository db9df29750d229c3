"""Norm after each part, on the residual stream itself: norm(x + part(x)).

The last block ends in a norm, so none stands before the scores. Vaswani et al. 2017, https://arxiv.org/abs/1706.03762
"""

from collections.abc import Callable
from typing import final

from jaxtyping import Float
from torch import Tensor, nn

from onechange.norm import Norm
from onechange.placement import Placement
from onechange.sizes import Sizes


@final
class PostPlacement(Placement):
    """One norm per part, and one fewer in all than with `pre`."""

    def __init__(self, sizes: Sizes, norm: Callable[[], Norm]) -> None:
        super().__init__(sizes, norm)
        self.norm = norm()

    def before(self, x: Float[Tensor, "... width"]) -> Float[Tensor, "... width"]:
        return x

    def after(
        self, x: Float[Tensor, "... width"], made: Float[Tensor, "... width"]
    ) -> Float[Tensor, "... width"]:
        return self.norm(x + made)

    @staticmethod
    def last(norm: Callable[[], Norm]) -> nn.Module:
        return nn.Identity()
