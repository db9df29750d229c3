"""What the plain members share: one matrix in, a function of every hidden feature, one matrix out."""

from abc import abstractmethod

from jaxtyping import Float
from torch import Tensor, nn

from onechange.mlp import Mlp
from onechange.mlp._hidden import plain
from onechange.sizes import Sizes


class PlainMlp(Mlp):
    """2 · ``width`` · ``hidden`` parameters, no biases."""

    def __init__(self, sizes: Sizes, hidden: int) -> None:
        super().__init__(sizes)
        inside = plain(sizes, hidden)
        self.hidden = nn.Linear(sizes.width, inside, bias=False)
        self.out = nn.Linear(inside, sizes.width, bias=False)

    @abstractmethod
    def activate(self, hidden: Float[Tensor, "... hidden"]) -> Float[Tensor, "... hidden"]:
        """The function of every hidden feature."""

    def forward(self, x: Float[Tensor, "... width"]) -> Float[Tensor, "... width"]:
        return self.out(self.activate(self.hidden(x)))
