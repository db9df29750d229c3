"""No normalisation: features go on as they are.

y = x. What goes wrong without, and first weights that make up for it: Zhang et al. 2019 (Fixup),
https://arxiv.org/abs/1901.09321
"""

from typing import final

from jaxtyping import Float
from torch import Tensor

from onechange.norm import Norm


@final
class NoNorm(Norm):
    """No parameters."""

    def forward(self, x: Float[Tensor, "... width"]) -> Float[Tensor, "... width"]:
        return x
