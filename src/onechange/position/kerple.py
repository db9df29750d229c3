"""A learned kernel of the distance for every head: the bias falls with the logarithm of the distance, or a power of it.

bias = −r1 · log(1 + r2 · distance), or −r1 · distance^r2 with r2 at most 2, with r1 and r2 above 0; both are what a
conditionally positive definite kernel gives. Chi et al. 2022, https://arxiv.org/abs/2205.09921
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

    The paper's program cuts r1 and r2 off where their range ends, and what is cut off no longer learns; here they stay
    in range as a softplus and, for the exponent, as twice a sigmoid. The paper draws the first values evenly: with the
    logarithm r1 up to 2 and r2 up to 1, with the power r1 up to 1 and r2 up to 2. Here they are not drawn but spread
    over the same ranges, so that no two heads begin alike.
    """

    def __init__(self, sizes: Sizes, *, kernel: Literal["logarithmic", "power"] = "logarithmic") -> None:
        super().__init__(sizes)
        self.longest = distance.reserve(sizes)
        numbers = torch.arange(sizes.heads, dtype=torch.float64) + 0.5
        first, second = numbers / sizes.heads, (numbers * GOLDEN).frac()  # even over the square, in no order
        logarithmic = kernel == "logarithmic"
        self.most = 2.0 if logarithmic else 1.0
        self.strength = nn.Parameter(first.expm1().log().float())
        self.rate = nn.Parameter(second.expm1().log().float()) if logarithmic else None
        self.exponent = None if logarithmic else nn.Parameter(second.logit().float())

    def bias(
        self, queries: Int[Tensor, " query"], keys: Int[Tensor, " key"]
    ) -> Float[Tensor, "heads query key"]:
        return distance.looked_up(self.by_distance(), distance.between(queries, keys))

    def by_distance(self) -> Float[Tensor, "heads distance"]:
        """The bias at the distances 0, 1, 2, …"""
        assert self.longest is not None
        distances = torch.arange(self.longest, device=self.strength.device, dtype=torch.float32)
        r1 = self.most * F.softplus(self.strength.float())[:, None]
        if self.rate is not None:
            return -r1 * torch.log1p(F.softplus(self.rate.float())[:, None] * distances)
        assert self.exponent is not None
        return -r1 * distances ** (2 * torch.sigmoid(self.exponent.float()))[:, None]
