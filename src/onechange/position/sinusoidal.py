"""Sines and cosines of every position, added to the token embedding and never learned.

x_t = token(t) + amplitude · p(t), p_{2i} = sin(t · 10000^(−2i/width)), p_{2i+1} = cos of the same. Vaswani et al. 2017,
section 3.5, https://arxiv.org/abs/1706.03762
"""

from typing import final

import torch
from jaxtyping import Float, Int
from torch import Tensor

from onechange.position import Position
from onechange.position._distance import reserve
from onechange.position._fixed import Fixed
from onechange.sizes import Sizes


@final
class SinusoidalPosition(Position):
    """No parameters.

    ``amplitude``: the paper's sines go from −1 to 1 beside token embeddings of deviation about 1 (they are drawn with
    width^(−1/2) and multiplied by width^(1/2)). Here token embeddings start with deviation 0.02, and 0.02 is the same
    ratio; with an ``initialization`` that draws them larger, choose it larger.
    """

    def __init__(self, sizes: Sizes, *, amplitude: float = 0.02) -> None:
        super().__init__(sizes)
        if amplitude <= 0:
            raise ValueError(f"position.amplitude = {amplitude}: must be above 0")
        self.longest = reserve(sizes)
        numbers = torch.arange(0, sizes.width, 2, dtype=torch.float64)
        angles = torch.outer(
            torch.arange(self.longest, dtype=torch.float64), 10_000 ** (-numbers / sizes.width)
        )
        waves = torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(1)
        self.waves = Fixed(amplitude * waves[:, : sizes.width])  # an odd width ends with a sine

    def embed(self, x: Float[Tensor, "batch time width"], positions: Int[Tensor, " time"]) -> Tensor:
        return (x + self.waves(positions)).to(x.dtype)
