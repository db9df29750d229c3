"""A placement that only tests know: a norm on what a part adds, and nowhere else."""

from collections.abc import Callable
from typing import final

from jaxtyping import Float
from torch import Tensor

from onechange.norm import Norm
from onechange.placement import Placement
from onechange.sizes import Sizes


@final
class StrangePlacement(Placement):
    def __init__(self, sizes: Sizes, norm: Callable[[], Norm]) -> None:
        super().__init__(sizes, norm)
        self.norm = norm()

    def before(self, x: Float[Tensor, "... width"]) -> Float[Tensor, "... width"]:
        return x

    def after(
        self, x: Float[Tensor, "... width"], made: Float[Tensor, "... width"]
    ) -> Float[Tensor, "... width"]:
        return x + self.norm(made)
