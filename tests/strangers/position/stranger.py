"""A position member that only tests know: it biases the scores, with a learned slope per head."""

from typing import final

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from onechange.position import Position
from onechange.sizes import Sizes


@final
class StrangePosition(Position):
    def __init__(self, sizes: Sizes, *, steep: float = 0.5) -> None:
        super().__init__(sizes)
        self.slopes = nn.Parameter(torch.full((sizes.heads,), steep))

    def bias(
        self, queries: Int[Tensor, " query"], keys: Int[Tensor, " key"]
    ) -> Float[Tensor, "heads query key"]:
        return -self.slopes[:, None, None] * (queries[:, None] - keys[None, :]).abs()
