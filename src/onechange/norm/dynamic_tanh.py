"""Dynamic tanh: squash every feature by itself, with no statistics over the others.

y = gain · tanh(alpha · x) + bias, alpha one learned number. Zhu et al. 2025, https://arxiv.org/abs/2503.10622
"""

from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from onechange.norm import Norm
from onechange.sizes import Sizes


@final
class DynamicTanh(Norm):
    """2 · ``width`` + 1 parameters: gains one, biases zero and alpha ``start`` at the start."""

    def __init__(self, sizes: Sizes, *, start: float = 0.5) -> None:
        super().__init__(sizes)
        if start <= 0:
            raise ValueError(f"norm.start = {start}: must be above 0")
        self.alpha = nn.Parameter(torch.tensor(start))
        self.gain = nn.Parameter(torch.ones(sizes.width))
        self.bias = nn.Parameter(torch.zeros(sizes.width))

    def forward(self, x: Float[Tensor, "... width"]) -> Float[Tensor, "... width"]:
        return (self.gain * torch.tanh(self.alpha * x.float()) + self.bias).to(x.dtype)
