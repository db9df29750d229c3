"""A learned bias for every bucket of distances and every head: near distances apart, far ones together.

bias = table[bucket(distance), head]. Half of the buckets hold one distance each, 0, 1, 2, …; the other half grow with
the logarithm up to the distance ``farthest``, and the last holds everything beyond. Raffel et al. 2019, section 2.1,
https://arxiv.org/abs/1910.10683
"""

import math
from typing import final

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from onechange.position import Position
from onechange.position import _distance as distance
from onechange.sizes import Sizes


@final
class T5Position(Position):
    """``buckets`` × heads parameters, one table for all layers.

    ``farthest``: the distance from which on all distances are the same.
    """

    def __init__(self, sizes: Sizes, *, buckets: int = 32, farthest: int = 128) -> None:
        super().__init__(sizes)
        if buckets < 2:
            raise ValueError(f"position.buckets = {buckets}: must be at least 2")
        if farthest <= buckets // 2:
            raise ValueError(
                f"position.farthest = {farthest}: must be above {buckets // 2}, half of position.buckets = {buckets}"
            )
        self.buckets = buckets
        self.farthest = farthest
        self.table = nn.Parameter(torch.empty(buckets, sizes.heads))

    def bias(
        self, queries: Int[Tensor, " query"], keys: Int[Tensor, " key"]
    ) -> Float[Tensor, "heads query key"]:
        places = self.bucket(distance.between(queries, keys))
        return distance.looked_up(self.table.float().t(), places)

    def bucket(self, distances: Int[Tensor, "..."]) -> Int[Tensor, "..."]:
        """The bucket of each distance."""
        near = self.buckets // 2
        # float32, as T5 was trained: at the edges of buckets the rounding counts.
        growth = torch.log(distances.clamp(min=1).float() / near) / math.log(self.farthest / near)
        far = near + (growth * (self.buckets - near)).long()
        return torch.where(distances < near, distances, far.clamp(max=self.buckets - 1))
