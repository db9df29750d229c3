"""How surprised a model is by every token of a text, with the ruler's windows and context, and what it expected."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from jaxtyping import Integer

from onechange import chances, scoring
from onechange.model import Model
from onechange.places import placed
from onechange.tokenizer import Tokenizer

ROWS = 4
"""Windows per forward pass: few, so that whoever looks on is soon told something."""


def surprises(
    model: Model,
    tokenizer: Tokenizer,
    texts: Sequence[str],
    text: Integer[np.ndarray, " tokens"],
    before: Integer[np.ndarray, " context"],
    alternatives: int,
) -> Iterator[list[dict[str, Any]]]:
    """Stretches of the tokens of ``text``, each with its ``nats``, what `onechange.chances.told` tells, and its place
    in characters, ``start`` and ``end``.

    ``texts``: of every id. ``before``: what stands before the text, the separator as a rule. A `ValueError` at once for
    a tokenizer that is not lossless: its tokens are not the text.
    """
    if not tokenizer.lossless:
        raise ValueError(
            f"the tokenizer is not lossless ({tokenizer.loss}), so the text it stands for has no nats per character"
        )
    return _surprises(model, tokenizer, texts, text, before, alternatives)


def _surprises(
    model: Model, tokenizer: Tokenizer, texts: Sequence[str], text: Any, before: Any, alternatives: int
) -> Iterator[list[dict[str, Any]]]:
    places = iter(placed(tokenizer, text))
    for batch in scoring.batches(model, text, before, ROWS):
        found = []
        for row, counts in enumerate(batch.overlapping):
            scores = model.logits(batch.features[row, counts]).detach().numpy()
            nats, targets = batch.nats[row, counts], batch.targets[row, counts]
            for one, token, own in zip(scores, targets.tolist(), nats.tolist(), strict=True):
                start, end = next(places)
                found.append(
                    {
                        **chances.told(one, token, texts, alternatives),
                        "nats": own,
                        "start": start,
                        "end": end,
                    }
                )
        yield found


def total(tokens: Sequence[dict[str, Any]]) -> float:
    """Their nats together, the sum exact."""
    return math.fsum(token["nats"] for token in tokens)
