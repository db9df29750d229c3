"""Norm before each part, the residual stream itself never normalised: x + part(norm(x)).

A norm stands before the scores. Xiong et al. 2020, https://arxiv.org/abs/2002.04745, on why this trains without a
long warm-up; GPT-2 has it too.
"""

from collections.abc import Callable
from typing import final

from jaxtyping import Float
from torch import Tensor

from onechange.norm import Norm
from onechange.placement import Placement
from onechange.sizes import Sizes


@final
class PrePlacement(Placement):
    """One norm per part."""

    def __init__(self, sizes: Sizes, norm: Callable[[], Norm]) -> None:
        super().__init__(sizes, norm)
        self.norm = norm()

    def before(self, x: Float[Tensor, "... width"]) -> Float[Tensor, "... width"]:
        return self.norm(x)

    def after(
        self, x: Float[Tensor, "... width"], made: Float[Tensor, "... width"]
    ) -> Float[Tensor, "... width"]:
        return x + made
