"""How many floating-point operations a model needs, counted from its sizes and parameters.

A multiplication and an addition are two operations. Forward and backward together cost three forwards. Causal
attention is counted at half of the full square, since the other half need not be computed.
"""

from torch import nn

from onechange.sizes import Sizes


def per_token(model: nn.Module, sizes: Sizes) -> int:
    """Operations of one training update per token of the batch: 6 per weight that is multiplied, and attention's
    products of queries, keys and values over a full window."""
    multiplied = sum(
        p.numel() for name, p in model.named_parameters() if p.ndim == 2 and "position" not in name
    )
    attention = (
        sizes.layers * sizes.window * sizes.width
    )  # q·k and weights·v: 2 · 2 · window · width, at half
    return 6 * multiplied + 3 * 2 * attention
