"""How many floating-point operations a model needs, counted from its sizes and parameters.

A multiplication and an addition are two operations. Forward and backward together cost three forwards. Causal
attention is counted at half of the full square, since the other half need not be computed. What a position's bias
costs does not grow with the batch and is left out.
"""

from onechange.model import Block, Model
from onechange.sizes import Sizes


def per_token(model: Model, sizes: Sizes) -> int:
    """Operations of one training update per token of the batch: 6 per weight that is multiplied, and attention's
    products of queries, keys and values over a full window."""
    multiplied = sum(p.numel() for p in model.blocks.parameters() if p.ndim == 2) + model.scoring.numel()
    # q·k and weights·v: 2 · 2 · width for every key that is seen, on average over the window
    return 6 * multiplied + 3 * 4 * round(
        sizes.width * sum(_seen(block, sizes.window) for block in model.blocks)
    )


def _seen(block: Block, window: int) -> float:
    """Keys that a query of the block sees on average."""
    reach = min(window, block.attention.reach or window)
    return reach - reach * reach / (2 * window)
