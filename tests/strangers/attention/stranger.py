"""An attention that only tests know: the mean of all values so far."""

from typing import final

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from onechange.attention import Attention
from onechange.key_value_cache import KeyValueCache
from onechange.position import Position
from onechange.sizes import Sizes


@final
class StrangeAttention(Attention):
    def __init__(self, sizes: Sizes) -> None:
        super().__init__(sizes)
        self.value = nn.Linear(sizes.width, sizes.width, bias=False)
        self.out = nn.Linear(sizes.width, sizes.width, bias=False)

    def forward(
        self,
        x: Float[Tensor, "batch time width"],
        position: Position,
        positions: Int[Tensor, " time"],
        bias: Float[Tensor, "heads time time"] | None = None,
        cache: KeyValueCache | None = None,
    ) -> Float[Tensor, "batch time width"]:
        return self.out(self._equal(x) @ self.value(x))

    def weights(
        self,
        x: Float[Tensor, "batch time width"],
        position: Position,
        positions: Int[Tensor, " time"],
        bias: Float[Tensor, "heads time time"] | None = None,
    ) -> Float[Tensor, "batch heads query key"]:
        return self._equal(x).expand(len(x), self.sizes.heads, -1, -1)

    def _equal(self, x: Float[Tensor, "batch time width"]) -> Float[Tensor, "time time"]:
        time = x.shape[1]
        return (
            torch.ones(time, time, device=x.device).tril()
            / torch.arange(1, time + 1, device=x.device)[:, None]
        )
