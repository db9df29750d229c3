"""A table that is not learned and stays float32, whatever precision a model is cast to."""

from collections.abc import Callable

import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn


class Fixed(nn.Module):
    """Made in float64 and rounded once. Not saved in checkpoints: ``__init__`` makes it anew."""

    values: Tensor

    def __init__(self, values: Float[Tensor, "..."]) -> None:
        super().__init__()
        self.register_buffer("values", values.float(), persistent=False)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> "Fixed":
        """Casting a model to another precision rounds its weights, never these."""
        values = self.values
        super()._apply(fn, recurse)
        self.values = values.to(self.values.device)
        return self

    def forward(self, rows: Int[Tensor, "..."]) -> Float[Tensor, "... columns"]:
        """The rows of those numbers; an `IndexError` for one that is not there, a negative one too."""
        return F.embedding(rows, self.values)
