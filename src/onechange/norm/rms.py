"""Root-mean-square normalisation: divide by the root of the mean square, scale by a learned gain.

y = x / sqrt(mean(x²) + epsilon) · gain. Zhang and Sennrich 2019, https://arxiv.org/abs/1910.07467
"""

from typing import final

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from onechange.norm import Norm
from onechange.sizes import Sizes


@final
class RmsNorm(Norm):
    """``width`` gains, one at the start.

    ``epsilon`` is Llama's first: small beside the mean square of first embeddings, which is 0.0004.
    """

    def __init__(self, sizes: Sizes, *, epsilon: float = 1e-6) -> None:
        super().__init__(sizes)
        if epsilon <= 0:
            raise ValueError(f"norm.epsilon = {epsilon}: must be above 0")
        self.epsilon = epsilon
        self.gain = nn.Parameter(torch.ones(sizes.width))

    def forward(self, x: Float[Tensor, "... width"]) -> Float[Tensor, "... width"]:
        # torch computes the mean square of bf16 in float32 only where the gain is bf16 too
        return F.rms_norm(x.float(), (self.sizes.width,), self.gain, self.epsilon).to(x.dtype)
