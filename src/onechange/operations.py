"""How many floating-point operations a model needs, counted from its sizes and parameters.

A multiplication and an addition are two operations. Forward and backward together cost three forwards. Causal
attention is counted at half of the full square, since the other half need not be computed. What a position's bias
costs does not grow with the batch and is left out.
"""

from onechange.attention import Attention
from onechange.model import Model
from onechange.sizes import Sizes


def per_token(model: Model, sizes: Sizes) -> int:
    """Operations of one training update per token of the batch: 6 per weight that is multiplied, and attention's
    products of queries, keys and values over a full window."""
    multiplied = sum(p.numel() for p in model.blocks.parameters() if p.ndim == 2) + model.scoring.numel()
    attentions = [part for part in model.modules() if isinstance(part, Attention)]
    # q·k and weights·v: 2 · 2 · width for every key that is seen, on average over the window
    return 6 * multiplied + 3 * 4 * round(sizes.width * sum(_seen(one, sizes.window) for one in attentions))


def _seen(attention: Attention, window: int) -> float:
    """Keys that a query sees on average."""
    reach = min(window, attention.reach or window)
    return reach - reach * reach / (2 * window)
