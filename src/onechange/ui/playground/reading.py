"""One model's surprise at every token of a text, with the ruler's windows and context.

The separator stands before the text, which is encoded on its own, as a story is in training and under the ruler. What
comes after the text, a separator or anything else, is no part of it.
"""

import math
from collections.abc import Iterator
from typing import Any

from onechange import scoring
from onechange.ui.playground import chances
from onechange.ui.playground.asked import Read
from onechange.ui.playground.models import Held
from onechange.ui.playground.places import placed

ALTERNATIVES = 5
ROWS = 4
"""Windows per forward pass: few, so that whoever has gone away is soon noticed."""


def surprise(held: Held, asked: Read) -> Iterator[dict[str, Any] | None]:
    """``None`` again and again while it is computed, at last the answer.

    A `ValueError` at once for characters that the model cannot read, and for a tokenizer that is not lossless.
    """
    tokenizer = held.trained.tokenizer
    if not tokenizer.lossless:
        raise ValueError(
            f"the tokenizer is not lossless ({tokenizer.loss}), so the text it stands for has no nats per character"
        )
    ids, separator = held.ids("text", asked.text), held.ids("the separator", held.separator)
    return _surprise(held, asked.text, ids, separator)


def _surprise(held: Held, text: str, ids: Any, separator: Any) -> Iterator[dict[str, Any] | None]:
    model, found = held.trained.model, []
    for batch in scoring.batches(model, ids, separator, ROWS):
        for row, counts in enumerate(batch.overlapping):
            scores = model.logits(batch.features[row, counts]).detach().numpy()
            nats, targets = batch.nats[row, counts], batch.targets[row, counts]
            for one, token, own in zip(scores, targets.tolist(), nats.tolist(), strict=True):
                found.append({**chances.told(one, token, held.tokens, ALTERNATIVES), "nats": own})
        yield None
    for token, (start, end) in zip(found, placed(held.trained.tokenizer, ids), strict=True):
        token["start"], token["end"] = start, end
    total = math.fsum(token["nats"] for token in found)
    yield {
        "step": held.trained.step,
        "vocabulary": len(held.tokens),
        "tokens": found,
        "characters": len(text),
        "nats": total,
        "nats_per_character": total / len(text),
    }
