"""An attention that only tests know: the mean of all values so far."""

from typing import final

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from onechange.attention import Attention
from onechange.position import Position
from onechange.sizes import Sizes


@final
class StrangeAttention(Attention):
    def __init__(self, sizes: Sizes) -> None:
        super().__init__(sizes)
        self.value = nn.Linear(sizes.width, sizes.width, bias=False)
        self.out = nn.Linear(sizes.width, sizes.width, bias=False)

    def forward(
        self, x: Float[Tensor, "batch time width"], position: Position, positions: Int[Tensor, " time"]
    ) -> Float[Tensor, "batch time width"]:
        seen = torch.arange(1, x.shape[1] + 1, device=x.device)[:, None]
        return self.out(self.value(x).cumsum(1) / seen)
