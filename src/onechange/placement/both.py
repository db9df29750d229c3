"""Norm before each part and on what the part adds: x + norm(part(norm(x))).

A norm stands before the scores. Ding et al. 2021 (sandwich norm), https://arxiv.org/abs/2105.13290; Gemma 2 has it,
https://arxiv.org/abs/2408.00118
"""

from collections.abc import Callable
from typing import final

from jaxtyping import Float
from torch import Tensor

from onechange.norm import Norm
from onechange.placement import Placement
from onechange.sizes import Sizes


@final
class BothPlacement(Placement):
    """Two norms per part. With their gains at one, every part adds as much as any other at the start."""

    def __init__(self, sizes: Sizes, norm: Callable[[], Norm]) -> None:
        super().__init__(sizes, norm)
        self.norm = norm()
        self.norm_of_added = norm()

    def before(self, x: Float[Tensor, "... width"]) -> Float[Tensor, "... width"]:
        return self.norm(x)

    def after(
        self, x: Float[Tensor, "... width"], made: Float[Tensor, "... width"]
    ) -> Float[Tensor, "... width"]:
        return x + self.norm_of_added(made)
