"""What the gated members share: one matrix in whose features a second one scales, one matrix out.

y = out(activate(gate(x)) · hidden(x)). Shazeer 2020, https://arxiv.org/abs/2002.05202
"""

from abc import abstractmethod

from jaxtyping import Float
from torch import Tensor, nn

from onechange.mlp import Mlp
from onechange.mlp._hidden import gated
from onechange.sizes import Sizes


class GatedMlp(Mlp):
    """3 · ``width`` · ``hidden`` parameters, no biases."""

    def __init__(self, sizes: Sizes, hidden: int) -> None:
        super().__init__(sizes)
        inside = gated(sizes, hidden)
        self.gate = nn.Linear(sizes.width, inside, bias=False)
        self.hidden = nn.Linear(sizes.width, inside, bias=False)
        self.out = nn.Linear(inside, sizes.width, bias=False)

    @abstractmethod
    def activate(self, gate: Float[Tensor, "... hidden"]) -> Float[Tensor, "... hidden"]:
        """The function of every feature of the gate."""

    def forward(self, x: Float[Tensor, "... width"]) -> Float[Tensor, "... width"]:
        return self.out(self.activate(self.gate(x)) * self.hidden(x))
