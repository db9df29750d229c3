"""Two layers with a squared ReLU between them, no biases.

y = out(max(0, in(x))²), four times as wide inside. So et al. 2021 (Primer), https://arxiv.org/abs/2109.08668
"""

from typing import final

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from onechange.mlp._plain import PlainMlp
from onechange.sizes import Sizes


@final
class Relu2Mlp(PlainMlp):
    """2 · ``width`` · ``hidden`` parameters; ``hidden`` 0 stands for 4 · ``width``."""

    def __init__(self, sizes: Sizes, *, hidden: int = 0) -> None:
        super().__init__(sizes, hidden)

    def activate(self, hidden: Float[Tensor, "... hidden"]) -> Float[Tensor, "... hidden"]:
        return F.relu(hidden).square()
