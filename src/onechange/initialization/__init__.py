"""The family `initialization`: from which distribution a model's first weights are drawn. One file per rule."""

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from jaxtyping import Float


class Initialization(ABC):
    """Vectors and scalars (gains, slopes) keep what their member set; everything else is drawn here."""

    version: ClassVar[int] = 1

    @abstractmethod
    def draw(
        self, name: str, shape: tuple[int, ...], layers: int, random: np.random.Generator
    ) -> Float[np.ndarray, "..."]:
        """First values of the parameter ``name`` ("blocks.0.mlp.out.weight") of a model of so many ``layers``.

        ``random`` is the parameter's own stream; a table drawn from it begins with the rows of a shorter one.
        A name that ends in ".out.weight" is of a matrix that writes into the residual stream; one that ends in
        ".weight" is multiplied with; any other is a table that is read.
        """
