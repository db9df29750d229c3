"""The family `position`: how a model is told where a token stands. One file per way."""

from typing import ClassVar

from jaxtyping import Float, Int
from torch import Tensor, nn

from onechange.sizes import Sizes


class Position(nn.Module):
    """Three places where position may enter. The model always calls all three; each does nothing unless overridden.

    Positions are given explicitly, never assumed to start at 0, so that cached generation and shifted texts work.
    """

    version: ClassVar[int] = 1
    longest: int | None = None
    """How many positions there are; ``None``: as many as one likes."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.sizes = sizes

    def embed(self, x: Float[Tensor, "batch time width"], positions: Int[Tensor, " time"]) -> Tensor:
        """The token embeddings with position added, once, before the first block."""
        return x

    def rotate(
        self, x: Float[Tensor, "... time head"], positions: Int[Tensor, "*#batch time"]
    ) -> Float[Tensor, "... time head"]:
        """Queries or keys, turned by their positions, in every block. ``positions`` may have further dimensions that
        go with those of ``x`` before its last."""
        return x

    def bias(
        self, queries: Int[Tensor, " query"], keys: Int[Tensor, " key"]
    ) -> Float[Tensor, "heads query key"] | None:
        """What is added to the attention scores, float32, or ``None`` for nothing. Asked once, for all blocks."""
        return None
