"""One table reads tokens and scores the next one.

Press and Wolf 2016, https://arxiv.org/abs/1608.05859; Inan et al. 2016, https://arxiv.org/abs/1611.01462
"""

from typing import final

from jaxtyping import Float
from torch import Tensor

from onechange.embedding import Embedding


@final
class TiedEmbedding(Embedding):
    """No parameters of its own."""

    def forward(self, reading: Float[Tensor, "vocabulary width"]) -> Float[Tensor, "vocabulary width"]:
        return reading
