"""How far back each head looks: its attention weights, shared out by the distance from query to key.

Only queries of the second half of full windows count: all of them have every distance up to half a window in view.
Bins double from one to the next up to there; the last holds all that is farther. A query's weights add up to 1, and so
do the shares of a head. A head that looked everywhere alike would give each bin in proportion to its keys.
"""

from itertools import pairwise
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from onechange.attention import Attention
from onechange.model import Model

MOST_TOKENS = 8192
"""So many are read."""
_WEIGHTS_AT_ONCE = 2**24


@torch.no_grad()
def by_distance(model: Model, ids: Int[np.ndarray, " tokens"]) -> dict[str, Any] | None:
    """Shares by distance and the mean distance, of every layer and head; ``None`` where ``ids`` fill no window.

    Of a bin, ``from`` and ``to`` (exclusive) are distances in tokens: 0 is the query itself.
    """
    window, heads = model.sizes.window, model.sizes.heads
    many = min(len(ids) // window, max(1, MOST_TOKENS // window))
    if not many:
        return None
    windows = torch.from_numpy(ids[: many * window].reshape(many, window))
    edges, queries = bins(window), window - window // 2
    sums = torch.zeros(model.sizes.layers, heads, len(edges) + 1, dtype=torch.float64)
    for some in windows.split(max(1, _WEIGHTS_AT_ONCE // (heads * window * window))):
        sums += torch.stack(_read(model, some, edges))
    means = (sums / (many * queries)).numpy()
    return {
        "windows": many,
        "queries": many * queries,
        "bins": [{"from": first, "to": end} for first, end in edges],
        "shares": np.round(means[..., :-1], 4).tolist(),
        "distances": np.round(means[..., -1], 2).tolist(),
    }


def bins(window: int) -> list[tuple[int, int]]:
    """0, 1, 2, 3 to 4, 5 to 8, … up to half a window, and all that is farther; ends are exclusive."""
    doubled = {2**power + 1 for power in range(window.bit_length()) if 2**power <= window // 2}
    return list(pairwise(sorted({0, 1, window} | doubled)))


def _read(
    model: Model, tokens: Int[Tensor, "rows window"], edges: list[tuple[int, int]]
) -> list[Float[Tensor, "heads figures"]]:
    """Of every layer, sums over the queries of the second half: the weights in each bin, and weight times distance."""
    window = tokens.shape[1]
    half = window // 2
    distance = torch.arange(half, window)[:, None] - torch.arange(window)
    inside = [(distance >= first) & (distance < end) for first, end in edges]
    found: list[Tensor] = []

    def look(attention: nn.Module, given: tuple) -> None:
        assert isinstance(attention, Attention)
        weights = attention.weights(*given)[:, :, half:].double().sum(0)
        found.append(
            torch.stack([*(weights[:, each].sum(1) for each in inside), (weights * distance).sum((1, 2))], 1)
        )

    attentions = [part for part in model.modules() if isinstance(part, Attention)]
    hooks = [attention.register_forward_pre_hook(look) for attention in attentions]
    try:
        model(tokens)
    finally:
        for hook in hooks:
            hook.remove()
    return found
