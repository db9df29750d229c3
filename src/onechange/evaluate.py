"""Evaluation during training: a whole text in windows that do not overlap, dropout off."""

from collections.abc import Callable

import numpy as np
import torch
from jaxtyping import Int, Integer
from torch import Tensor

from onechange.encoding import release
from onechange.processes import ALONE, Group

Nats = Callable[[Tensor, Tensor], Tensor]
"""Tokens and targets, both "batch time", to the surprise at every target in nats."""


def loss(
    nats: Nats,
    ids: Integer[np.ndarray, " tokens"],
    context: Int[np.ndarray, " context"],
    window: int,
    rows: int,
    group: Group = ALONE,
) -> float:
    """Mean nats per token over all of ``ids``, each scored once; the first token sees ``context``'s last id.

    Every batch has ``rows`` × ``window`` tokens, the last one filled up with tokens that are not counted: compiled
    code then meets one shape only. Sums are float64. ``ids`` may be a map of a file; one batch of it is read at a time.
    The processes of a ``group`` share the windows among them.
    """
    count = len(ids)
    windows = -(-count // window)
    mine = range(group.rank * windows // group.size, (group.rank + 1) * windows // group.size)
    total = 0.0
    for first in range(mine.start, mine.stop, rows):
        place = first + np.arange(rows)
        at = place[:, None] * window + np.arange(window + 1)  # place 0 is the context's
        read = ids[np.clip(at - 1, 0, count - 1)].astype(np.int64)
        release(ids)
        batch = torch.from_numpy(np.where(at == 0, context[-1], read))
        counted = torch.from_numpy((at[:, 1:] <= count) & (place < mine.stop)[:, None])
        surprise = nats(batch[:, :-1], batch[:, 1:])
        total += float(surprise.cpu().double()[counted].sum())
    return group.sum([total])[0] / count
