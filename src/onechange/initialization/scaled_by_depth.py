"""Normal, every matrix of a block less the deeper the block is.

deviation 0.02 / sqrt(l) in block l = 1, 2, …, and 0.02 outside the blocks. Zhang et al. 2019 (depth-scaled
initialization), https://arxiv.org/abs/1908.11365, there on top of another first distribution.
"""

import re
from typing import final

import numpy as np
from jaxtyping import Float

from onechange.initialization import Initialization


@final
class ScaledByDepth(Initialization):
    """``deviation``: that of the first block and of all that stands outside the blocks."""

    def __init__(self, *, deviation: float = 0.02) -> None:
        if deviation <= 0:
            raise ValueError(f"initialization.deviation = {deviation}: must be above 0")
        self.deviation = deviation

    def draw(
        self, name: str, shape: tuple[int, ...], layers: int, random: np.random.Generator
    ) -> Float[np.ndarray, "..."]:
        block = re.match(r"blocks\.(\d+)\.", name)
        depth = int(block[1]) + 1 if block else 1
        return random.standard_normal(shape) * (self.deviation / depth**0.5)
