"""Texts longer than a model was trained on: the same text in windows of 1, 2 and 4 times the trained length.

Windows do not overlap; the last is moved back to the end of the text, and of it only what is new counts. So every
token counts once at every length, and what a length changes is how far back the model sees. Press et al. 2021, who
asked this of positional encodings (ALiBi), https://arxiv.org/abs/2108.12409
"""

import math
from typing import Any

import numpy as np
import torch
from jaxtyping import Int, Integer

from onechange.bins import Bins
from onechange.model import Model, surprise

TIMES = (1, 2, 4)
MOST_POSITIONS = 4096
"""A bias between all positions of a longer window would not fit into the memory of a small machine."""
_SCORES_AT_ONCE = 2**25


@torch.no_grad()
def longer(
    model: Model,
    ids: Int[np.ndarray, " tokens"],
    characters: Integer[np.ndarray, " vocabulary"],
    separator: Int[np.ndarray, " separator"],
) -> dict[str, Any]:
    """Nats over all of ``ids``, and by position in the window, at every length, or why there are none.

    ``characters``: how many begin in each token of the vocabulary. ``separator`` stands before the first token.
    """
    before = separator[-model.sizes.window :]
    stream = np.concatenate([before, ids])
    return {
        "characters": int(characters[ids].sum()),
        "tokens": len(ids),
        "lengths": [_length(model, stream, len(before), times, characters) for times in TIMES],
    }


def _length(
    model: Model, stream: np.ndarray, before: int, times: int, characters: np.ndarray
) -> dict[str, Any]:
    window = times * model.sizes.window
    found = {"times": times, "window": window, "nats": None, "by_position": [], "why_not": None}
    if times > 1 and (why := _why_not(model, window, len(stream) - 1)):
        return {**found, "why_not": why}
    bins, nats = Bins(), []
    for place, targets, surprises in _windows(model, stream, before, window):
        bins.add(place + 1, surprises, characters[targets])
        nats.append(math.fsum(surprises))
    total = math.fsum(nats)
    if not math.isfinite(total):
        return {**found, "why_not": "what the model predicts there is not finite"}
    return {**found, "nats": total, "by_position": bins.to_json()}


def _why_not(model: Model, window: int, tokens: int) -> str | None:
    longest = model.position.longest
    if longest is not None and longest < window:
        return f"the model has {longest:,} positions and no more"
    if window > MOST_POSITIONS:
        return f"windows of more than {MOST_POSITIONS:,} tokens are not tried"
    return f"the text that is read has {tokens:,} tokens" if tokens < window else None


def _windows(model: Model, stream: np.ndarray, before: int, window: int):
    """Place in the window, target and surprise of every token that counts, some windows at a time."""
    inputs = len(stream) - 1
    length = min(window, inputs)
    first = np.arange(0, inputs, window)
    rows = max(1, _SCORES_AT_ONCE // (model.sizes.vocabulary * length))
    for some in np.split(first, range(rows, len(first), rows)):
        at = np.minimum(some, inputs - length)[:, None] + np.arange(length + 1)
        batch = torch.from_numpy(stream[at])
        nats = surprise(model(batch[:, :-1]), model.scoring, batch[:, 1:]).double().numpy()
        counts = (at[:, 1:] > some[:, None]) & (at[:, 1:] >= before)
        yield counts.nonzero()[1], stream[at[:, 1:][counts]], nats[counts]
