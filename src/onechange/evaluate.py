"""Evaluation during training: a whole text in windows that do not overlap, dropout off."""

from collections.abc import Callable

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

Nats = Callable[[Tensor, Tensor], Tensor]
"""Tokens and targets, both "batch time", to the surprise at every target in nats."""


def loss(
    nats: Nats, ids: Int[np.ndarray, " tokens"], context: Int[np.ndarray, " context"], window: int, rows: int
) -> float:
    """Mean nats per token over all of ``ids``, each scored once; the first token sees ``context``'s last id.

    Every batch has ``rows`` × ``window`` tokens, the last one filled up with tokens that are not counted: compiled
    code then meets one shape only. Sums are float64.
    """
    stream = np.concatenate((context[-1:], ids))
    count = len(ids)
    windows = -(-count // window)
    total = 0.0
    for first in range(0, windows, rows):
        at = (first + np.arange(rows))[:, None] * window + np.arange(window + 1)
        batch = torch.from_numpy(stream[np.minimum(at, count)])
        counted = torch.from_numpy(at[:, 1:] <= count)
        surprise = nats(batch[:, :-1], batch[:, 1:])
        total += float(surprise.double()[counted].sum())
    return total / count
