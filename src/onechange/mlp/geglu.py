"""A hidden layer gated by the GELU of a second one, no biases.

y = out(GELU(gate(x)) · hidden(x)) with the exact GELU, x · Φ(x). Shazeer 2020, https://arxiv.org/abs/2002.05202
"""

from typing import final

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from onechange.mlp._gated import GatedMlp
from onechange.sizes import Sizes


@final
class GegluMlp(GatedMlp):
    """3 · ``width`` · ``hidden`` parameters; ``hidden`` 0 stands for as many as a plain one has."""

    def __init__(self, sizes: Sizes, *, hidden: int = 0) -> None:
        super().__init__(sizes, hidden)

    def activate(self, gate: Float[Tensor, "... hidden"]) -> Float[Tensor, "... hidden"]:
        return F.gelu(gate)
