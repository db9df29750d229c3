"""Normal with one deviation, less where a matrix writes into the residual stream.

deviation 0.02; for those matrices divided by sqrt(2 · layers), two of which stand in every layer. Radford et al. 2019
(GPT-2), section 2.3,
https://cdn.openai.com/better-language-models/language_models_are_unsupervised_multitask_learners.pdf
"""

from typing import final

import numpy as np
from jaxtyping import Float

from onechange.initialization import Initialization


@final
class Gpt2Initialization(Initialization):
    """``deviation``: of everything but what writes into the residual stream."""

    def __init__(self, *, deviation: float = 0.02) -> None:
        if deviation <= 0:
            raise ValueError(f"initialization.deviation = {deviation}: must be above 0")
        self.deviation = deviation

    def draw(
        self, name: str, shape: tuple[int, ...], layers: int, random: np.random.Generator
    ) -> Float[np.ndarray, "..."]:
        deviation = self.deviation
        if name.endswith(".out.weight"):
            deviation /= (2 * layers) ** 0.5
        return random.standard_normal(shape) * deviation
