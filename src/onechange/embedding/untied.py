"""A table of its own scores the next token.

scores = features · weightᵀ. What tying saves and costs: Press and Wolf 2016, https://arxiv.org/abs/1608.05859
"""

from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from onechange.embedding import Embedding
from onechange.sizes import Sizes


@final
class UntiedEmbedding(Embedding):
    """``vocabulary`` × ``width`` parameters."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__(sizes)
        self.weight = nn.Parameter(torch.empty(sizes.vocabulary, sizes.width))

    def forward(self, reading: Float[Tensor, "vocabulary width"]) -> Float[Tensor, "vocabulary width"]:
        return self.weight
