"""Two layers with a GELU between them, four times as wide inside, no biases.

y = out(GELU(in(x))) with the exact GELU, x · Φ(x). Hendrycks and Gimpel 2016, https://arxiv.org/abs/1606.08415
"""

from typing import final

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from onechange.mlp import Mlp
from onechange.sizes import Sizes


@final
class GeluMlp(Mlp):
    """8 · ``width``² parameters."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__(sizes)
        self.hidden = nn.Linear(sizes.width, 4 * sizes.width, bias=False)
        self.out = nn.Linear(4 * sizes.width, sizes.width, bias=False)

    def forward(self, x: Float[Tensor, "... width"]) -> Float[Tensor, "... width"]:
        return self.out(F.gelu(self.hidden(x)))
