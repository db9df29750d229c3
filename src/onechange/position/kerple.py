"""A learned kernel of the distance for every head: the bias falls with the logarithm of the distance, or a power of it.

bias = −r1 · log(1 + r2 · distance), or −r1 · distance^r2 with r2 at most 2, with r1 and r2 above 0; both are what a
conditionally positive definite kernel gives. Chi et al. 2022, equations 7 and 8, https://arxiv.org/abs/2205.09921
"""

from typing import Literal, final

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from onechange.position import Position
from onechange.position import _distance as distance
from onechange.sizes import Sizes

GOLDEN = 0.6180339887498949


@final
class KerplePosition(Position):
    """Two parameters per head, shared by all layers.

    r1 and r2 stay in range as a softplus and, where 2 is the most, as twice a sigmoid. (The paper's program cuts them
    off instead, and a parameter that is cut off no longer learns.) The paper draws the first values evenly, up to 2
    the factor outside the logarithm and the exponent, up to 1 the factor before the distance and that before the
    power. Here they are not drawn but spread over the same range, so that two heads never begin alike.
    """

    def __init__(self, sizes: Sizes, *, kernel: Literal["logarithmic", "power"] = "logarithmic") -> None:
        super().__init__(sizes)
        self.kernel = kernel
        self.longest = distance.reserve(sizes)
        numbers = torch.arange(sizes.heads, dtype=torch.float64) + 0.5
        first, second = numbers / sizes.heads, (numbers * GOLDEN).frac()  # even over the square, in no order
        if kernel == "logarithmic":
            first, second = torch.expm1(2 * first).log(), torch.expm1(second).log()
        else:
            first, second = torch.expm1(first).log(), torch.logit(second)
        self.first = nn.Parameter(first.float())
        self.second = nn.Parameter(second.float())

    def bias(
        self, queries: Int[Tensor, " query"], keys: Int[Tensor, " key"]
    ) -> Float[Tensor, "heads query key"]:
        return distance.looked_up(self.by_distance(), distance.between(queries, keys))

    def by_distance(self) -> Float[Tensor, "heads distance"]:
        """The bias at the distances 0, 1, 2, …"""
        assert self.longest is not None
        distances = torch.arange(self.longest, device=self.first.device, dtype=torch.float32)
        first, second = F.softplus(self.first.float())[:, None], self.second.float()[:, None]
        if self.kernel == "logarithmic":
            return -first * torch.log1p(F.softplus(second) * distances)
        return -first * distances ** (2 * torch.sigmoid(second))
