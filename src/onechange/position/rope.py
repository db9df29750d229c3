"""Rotary position embedding: queries and keys are turned by an angle that grows with their position.

Features 2i and 2i+1 of a head form a pair, turned by position · theta^(−2i/d); a product of a turned query and a turned
key then depends on their distance only. Su et al. 2021 (RoFormer), https://arxiv.org/abs/2104.09864
"""

from collections.abc import Callable
from typing import final

import torch
from jaxtyping import Float, Int
from torch import Tensor

from onechange.position import Position
from onechange.sizes import Sizes


@final
class RotaryPosition(Position):
    """No parameters. The angles' cosines and sines are float32 whatever the precision of queries and keys."""

    cosines: Tensor
    sines: Tensor

    def __init__(self, sizes: Sizes, *, theta: float = 10_000.0) -> None:
        super().__init__(sizes)
        if sizes.head_width % 2:
            raise ValueError(
                f"position 'rope' turns pairs of features, but a head has {sizes.head_width} "
                f"(width = {sizes.width}, heads = {sizes.heads}): choose an even number of features per head"
            )
        if theta <= 1:
            raise ValueError(f"position.theta = {theta}: must be above 1")
        # Tables made in float64 and rounded once; one row per position, one column per pair.
        pairs = torch.arange(0, sizes.head_width, 2, dtype=torch.float64)
        angles = torch.outer(
            torch.arange(sizes.window, dtype=torch.float64), theta ** (-pairs / sizes.head_width)
        )
        self.register_buffer("cosines", angles.cos().float(), persistent=False)
        self.register_buffer("sines", angles.sin().float(), persistent=False)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> "RotaryPosition":
        """Casting a model to another precision rounds its weights, never the angles."""
        cosines, sines = self.cosines, self.sines
        super()._apply(fn, recurse)
        self.cosines, self.sines = cosines.to(self.cosines.device), sines.to(self.sines.device)
        return self

    def rotate(
        self, x: Float[Tensor, "batch heads time head"], positions: Int[Tensor, " time"]
    ) -> Float[Tensor, "batch heads time head"]:
        first, second = x.float().unflatten(-1, (-1, 2)).unbind(-1)
        cosines, sines = self.cosines[positions], self.sines[positions]
        turned = torch.stack((first * cosines - second * sines, first * sines + second * cosines), dim=-1)
        return turned.flatten(-2).to(x.dtype)
