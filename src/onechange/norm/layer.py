"""Layer normalisation: centre, divide by the standard deviation, scale by a learned gain.

y = (x − mean) / sqrt(variance + epsilon) · gain, and + bias if there is one. Ba et al. 2016,
https://arxiv.org/abs/1607.06450
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
    """``width`` gains, one at the start; with ``bias`` as many numbers more, zero at the start."""

    def __init__(self, sizes: Sizes, *, bias: bool = False, epsilon: float = 1e-5) -> None:
        super().__init__(sizes)
        if epsilon <= 0:
            raise ValueError(f"norm.epsilon = {epsilon}: must be above 0")
        self.epsilon = epsilon
        self.gain = nn.Parameter(torch.ones(sizes.width))
        self.bias = nn.Parameter(torch.zeros(sizes.width)) if bias else None

    def forward(self, x: Float[Tensor, "... width"]) -> Float[Tensor, "... width"]:
        return F.layer_norm(x, (self.sizes.width,), self.gain, self.bias, self.epsilon)
