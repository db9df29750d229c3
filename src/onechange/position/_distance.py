"""Distances from queries back to keys, and values that depend on the distance only."""

from jaxtyping import Float, Int
from torch import Tensor

from onechange.sizes import Sizes


def between(queries: Int[Tensor, " query"], keys: Int[Tensor, " key"]) -> Int[Tensor, "query key"]:
    """How many positions each key stands behind each query; 0 for keys ahead, which causal attention hides."""
    return (queries[:, None] - keys[None, :]).clamp(min=0)


def looked_up(
    columns: Float[Tensor, "heads column"], places: Int[Tensor, "query key"]
) -> Float[Tensor, "heads query key"]:
    """``columns[:, places]``, several times faster both ways; torch raises for a place that is none."""
    return columns.index_select(1, places.flatten()).unflatten(1, places.shape)


def reserve(sizes: Sizes) -> int:
    """For how many positions a member makes tables: at least 8,192, and eight windows."""
    return max(8192, 8 * sizes.window)
