"""What torch gives its own layers: uniform matrices, tables normal with deviation 1.

A matrix that is multiplied with is uniform in ±1/sqrt(inputs) (`torch.nn.Linear`), a table that is read is standard
normal (`torch.nn.Embedding`). https://docs.pytorch.org/docs/stable/generated/torch.nn.Linear.html
"""

from typing import final

import numpy as np
from jaxtyping import Float

from onechange.initialization import Initialization


@final
class TorchInitialization(Initialization):
    """The table that a tied model reads is drawn as one that is read, so its first scores are large."""

    def draw(
        self, name: str, shape: tuple[int, ...], layers: int, random: np.random.Generator
    ) -> Float[np.ndarray, "..."]:
        if not name.endswith(".weight"):
            return random.standard_normal(shape)
        bound = shape[-1] ** -0.5
        return random.uniform(-bound, bound, shape)
