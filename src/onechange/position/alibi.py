"""Attention with linear biases: the farther back a key stands, the less it counts, each head with its own slope.

bias = −slope · (query's position − key's position). With n heads, n a power of two, the slopes are 2^(−8/n),
2^(−16/n), …, 2^(−8). Any other number has the slopes of the power of two below, then every second of those of the
power above. Press et al. 2021, section 3, https://arxiv.org/abs/2108.12409
"""

from typing import final

import torch
from jaxtyping import Float, Int
from torch import Tensor

from onechange.position import Position
from onechange.position import _distance as distance
from onechange.position._fixed import Fixed
from onechange.sizes import Sizes


@final
class AlibiPosition(Position):
    """No parameters: slopes are fixed, as in the paper, where learned ones did worse on longer texts."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__(sizes)
        self.slopes = Fixed(torch.tensor(_slopes(sizes.heads), dtype=torch.float64))

    def bias(
        self, queries: Int[Tensor, " query"], keys: Int[Tensor, " key"]
    ) -> Float[Tensor, "heads query key"]:
        return -self.slopes.values[:, None, None] * distance.between(queries, keys).float()


def _slopes(heads: int) -> list[float]:
    below = 2 ** (heads.bit_length() - 1)
    slopes = [2 ** (-8 * number / below) for number in range(1, below + 1)]
    between = [2 ** (-4 * number / below) for number in range(1, 2 * below, 2)]
    return slopes + between[: heads - below]
