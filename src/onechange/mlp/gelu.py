"""Two layers with a GELU between them, no biases.

y = out(GELU(in(x))), four times as wide inside, with GELU(x) = x · Φ(x), or what GPT-2 has in its place,
x/2 · (1 + tanh(sqrt(2/π) · (x + 0.044715 x³))). Hendrycks and Gimpel 2016, https://arxiv.org/abs/1606.08415
"""

from typing import Literal, final

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from onechange.mlp._plain import PlainMlp
from onechange.sizes import Sizes


@final
class GeluMlp(PlainMlp):
    """2 · ``width`` · ``hidden`` parameters; ``hidden`` 0 stands for 4 · ``width``."""

    def __init__(
        self, sizes: Sizes, *, hidden: int = 0, approximation: Literal["none", "tanh"] = "none"
    ) -> None:
        super().__init__(sizes, hidden)
        self.approximation = approximation

    def activate(self, hidden: Float[Tensor, "... hidden"]) -> Float[Tensor, "... hidden"]:
        return F.gelu(hidden, approximate=self.approximation)
