"""A learned vector for every absolute position, added to the token embedding.

x_t = token(t) + table[position(t)], with ``window`` rows. GPT-2, Radford et al. 2019,
https://cdn.openai.com/better-language-models/language_models_are_unsupervised_multitask_learners.pdf
"""

from typing import final

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from onechange.position import Position
from onechange.sizes import Sizes


@final
class LearnedPosition(Position):
    """``window`` × ``width`` parameters. Positions at or beyond the window do not exist."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__(sizes)
        self.longest = sizes.window
        self.table = nn.Parameter(torch.empty(sizes.window, sizes.width))

    def embed(self, x: Float[Tensor, "batch time width"], positions: Int[Tensor, " time"]) -> Tensor:
        return x + self.table[positions]
