"""An embedding that only tests know: the table that reads, each feature with a weight of its own."""

from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from onechange.embedding import Embedding
from onechange.sizes import Sizes


@final
class StrangeEmbedding(Embedding):
    def __init__(self, sizes: Sizes) -> None:
        super().__init__(sizes)
        self.gain = nn.Parameter(torch.ones(sizes.width))

    def forward(self, reading: Float[Tensor, "vocabulary width"]) -> Float[Tensor, "vocabulary width"]:
        return reading * self.gain
