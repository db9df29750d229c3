"""Evaluation during training: a whole text in windows that do not overlap, dropout off."""

from collections.abc import Callable

import numpy as np
import torch
from jaxtyping import Int, Integer
from torch import Tensor

from onechange.encoding import release

Nats = Callable[[Tensor, Tensor], Tensor]
"""Tokens and targets, both "batch time", to the surprise at every target in nats."""


def loss(
    nats: Nats,
    ids: Integer[np.ndarray, " tokens"],
    context: Int[np.ndarray, " context"],
    window: int,
    rows: int,
) -> float:
    """Mean nats per token over all of ``ids``, each scored once; the first token sees ``context``'s last id.

    Every batch has ``rows`` × ``window`` tokens, the last one filled up with tokens that are not counted: compiled
    code then meets one shape only. Sums are float64. ``ids`` may be a map of a file; one batch of it is read at a time.
    """
    count = len(ids)
    windows = -(-count // window)
    total = 0.0
    for first in range(0, windows, rows):
        at = (first + np.arange(rows))[:, None] * window + np.arange(window + 1)  # place 0 is the context's
        read = ids[np.clip(at - 1, 0, count - 1)].astype(np.int64)
        release(ids)
        batch = torch.from_numpy(np.where(at == 0, context[-1], read))
        counted = torch.from_numpy(at[:, 1:] <= count)
        surprise = nats(batch[:, :-1], batch[:, 1:])
        total += float(surprise.double()[counted].sum())
    return total / count
