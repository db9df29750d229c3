"""Rotary position embedding: queries and keys are turned by an angle that grows with their position.

A pair of a head's features is turned by position · theta^(−2i/d), pair i of d/2, d the number of turned features; a
product of a turned query and a turned key then depends on their distance only. Su et al. 2021 (RoFormer),
https://arxiv.org/abs/2104.09864. A part of the features only, and pairs of halves: Black et al. 2022 (GPT-NeoX),
https://arxiv.org/abs/2204.06745
"""

from typing import Literal, final

import torch
from jaxtyping import Float, Int
from torch import Tensor

from onechange.position import Position
from onechange.position._distance import reserve
from onechange.position._fixed import Fixed
from onechange.sizes import Sizes


@final
class RotaryPosition(Position):
    """No parameters. The angles' cosines and sines are float32 whatever the precision of queries and keys.

    ``share`` of a head's features is turned, the first ones, rounded down to an even number; the rest passes through.
    ``pairs``: feature 2i with 2i + 1 (``"consecutive"``), or i with i + d/2 (``"halves"``, as in GPT-NeoX and Llama).
    """

    def __init__(
        self,
        sizes: Sizes,
        *,
        theta: float = 10_000.0,
        share: float = 1.0,
        pairs: Literal["consecutive", "halves"] = "consecutive",
    ) -> None:
        super().__init__(sizes)
        if sizes.head_width % 2:
            raise ValueError(
                f"position 'rope' turns pairs of features, but a head has {sizes.head_width} "
                f"(width = {sizes.width}, heads = {sizes.heads}): choose an even number of features per head"
            )
        if theta <= 1:
            raise ValueError(f"position.theta = {theta}: must be above 1")
        if not 0 < share <= 1:
            raise ValueError(f"position.share = {share}: must be above 0 and at most 1")
        self.turned = int(sizes.head_width * share) // 2 * 2
        if not self.turned:
            raise ValueError(
                f"position.share = {share}: must be at least {2 / sizes.head_width:g}, "
                f"one pair of a head's {sizes.head_width} features"
            )
        self.pairs = pairs
        self.longest = reserve(sizes)
        # One row per position, one column per pair.
        numbers = torch.arange(0, self.turned, 2, dtype=torch.float64)
        angles = torch.outer(
            torch.arange(self.longest, dtype=torch.float64), theta ** (-numbers / self.turned)
        )
        self.cosines, self.sines = Fixed(angles.cos()), Fixed(angles.sin())

    def rotate(
        self, x: Float[Tensor, "... time head"], positions: Int[Tensor, "*#batch time"]
    ) -> Float[Tensor, "... time head"]:
        cosines, sines = self.cosines(positions), self.sines(positions)
        shape, axis = ((-1, 2), -1) if self.pairs == "consecutive" else ((2, -1), -2)
        first, second = x[..., : self.turned].float().unflatten(-1, shape).unbind(axis)
        turned = torch.stack((first * cosines - second * sines, first * sines + second * cosines), dim=axis)
        turned = turned.flatten(-2).to(x.dtype)
        return turned if self.turned == x.shape[-1] else torch.cat((turned, x[..., self.turned :]), dim=-1)
