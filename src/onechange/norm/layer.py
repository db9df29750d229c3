"""Layer normalisation without a bias: centre, divide by the standard deviation, scale by a learned gain.

y = (x − mean) / sqrt(variance + 1e-5) · gain. Ba et al. 2016, https://arxiv.org/abs/1607.06450
"""

from typing import final

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from onechange.norm import Norm
from onechange.sizes import Sizes


@final
class LayerNorm(Norm):
    """``width`` parameters, all one at the start."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__(sizes)
        self.gain = nn.Parameter(torch.ones(sizes.width))

    def forward(self, x: Float[Tensor, "... width"]) -> Float[Tensor, "... width"]:
        return F.layer_norm(x, (self.sizes.width,), self.gain, eps=1e-5)
