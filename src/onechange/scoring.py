"""A text through a model, window by window: the surprise at every token, in float32 and with dropout off.

Windows overlap by half, so that each token is predicted from at least half a window as soon as there is that much
text before it. Every other one of them, together, is the text in windows that do not overlap.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from jaxtyping import Bool, Float, Int, Integer
from torch import Tensor

from onechange.encoding import release
from onechange.model import Model, surprise


@dataclass(frozen=True, eq=False)
class Batch:
    """Some windows: what the model read, what it was to predict, and how surprised it was."""

    inputs: Int[np.ndarray, "rows time"]
    targets: Int[np.ndarray, "rows time"]
    numbers: Int[np.ndarray, "rows time"]
    """The targets' numbers among the text's tokens; below 0 in what stands before the text."""
    nats: Float[np.ndarray, "rows time"]
    """The surprise at every target, float64."""
    features: Float[Tensor, "rows time width"]
    """From which each target was predicted."""
    overlapping: Bool[np.ndarray, "rows time"]
    """Which targets count where windows overlap: in the order of the batch, every token of the text once."""
    alone: Bool[np.ndarray, "rows time"]
    """The same where they do not overlap."""


@torch.no_grad()
def batches(
    model: Model, ids: Integer[np.ndarray, " tokens"], context: Int[np.ndarray, " context"], rows: int
) -> Iterator[Batch]:
    """The windows over ``ids`` in the order of the text, ``rows`` of them per forward pass.

    ``context`` stands before the first token and is no target that counts.
    """
    assert len(context), "the first token needs something before it"
    context = context[-model.sizes.window :]
    before, stream = len(context), len(context) + len(ids)
    was_training = model.training
    model.eval()
    try:
        for start, overlapping, alone in _places(stream, model.sizes.window, before, rows):
            length = min(model.sizes.window, stream - 1 - int(start[0]))
            at = start[:, None] + np.arange(length + 1)
            read = ids[np.maximum(at - before, 0)].astype(np.int64)
            release(ids)
            held = np.where(at < before, context[np.minimum(at, before - 1)], read)
            batch = torch.from_numpy(held)
            features = model(batch[:, :-1])
            place = np.arange(length)
            yield Batch(
                inputs=held[:, :-1],
                targets=held[:, 1:],
                numbers=at[:, 1:] - before,
                nats=surprise(features, model.scoring, batch[:, 1:]).double().numpy(),
                features=features,
                overlapping=place >= overlapping[:, None],
                alone=place >= alone[:, None],
            )
    finally:
        model.train(was_training)


def _places(
    stream: int, window: int, context: int, rows: int
) -> Iterator[tuple[Int[np.ndarray, " rows"], ...]]:
    """Batches of window starts, and from which place of each window on its targets count, in either way."""
    half = max(1, window // 2)
    inputs = stream - 1
    starts = [0]
    while starts[-1] + window < inputs:
        starts.append(min(starts[-1] + half, inputs - window))
    # A window's first counted target is the one after the last that the window before it counted.
    overlapping = [context - 1] + [before + window - start for before, start in pairwise(starts)]
    alone, covered, apart = [], context - 1, window // half * half
    for start in starts:
        needed = start % apart == 0 or start == starts[-1]
        alone.append(covered - start if needed else window)
        covered = start + window if needed else covered
    for at in range(0, len(starts), rows):
        yield tuple(np.array(found[at : at + rows]) for found in (starts, overlapping, alone))
