"""An mlp that only tests know: half as wide, with one matrix more."""

from typing import final

from jaxtyping import Float
from torch import Tensor, nn

from onechange.mlp import Mlp
from onechange.sizes import Sizes


@final
class StrangeMlp(Mlp):
    def __init__(self, sizes: Sizes) -> None:
        super().__init__(sizes)
        self.gate = nn.Linear(sizes.width, 2 * sizes.width, bias=False)
        self.hidden = nn.Linear(sizes.width, 2 * sizes.width, bias=False)
        self.out = nn.Linear(2 * sizes.width, sizes.width, bias=False)

    def forward(self, x: Float[Tensor, "batch time width"]) -> Float[Tensor, "batch time width"]:
        return self.out(self.gate(x).sigmoid() * self.hidden(x))
