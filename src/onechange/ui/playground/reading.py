"""One model's surprise at every token of a text, with the ruler's windows and context.

The separator stands before the text, which is encoded on its own, as a story is in training and under the ruler. What
comes after the text, a separator or anything else, is no part of it.
"""

from collections.abc import Iterator
from typing import Any

from onechange.surprises import surprises, total
from onechange.ui.playground.asked import Read
from onechange.ui.playground.models import Held

ALTERNATIVES = 5


def surprise(held: Held, asked: Read) -> Iterator[dict[str, Any] | None]:
    """``None`` again and again while it is computed, at last the answer.

    A `ValueError` at once for characters that the model cannot read, and for a tokenizer that is not lossless.
    """
    trained = held.trained
    ids, separator = held.ids("text", asked.text), held.ids("the separator", held.separator)
    stretches = surprises(trained.model, trained.tokenizer, held.tokens, ids, separator, ALTERNATIVES)
    return _told(held, asked.text, stretches)


def _told(
    held: Held, text: str, stretches: Iterator[list[dict[str, Any]]]
) -> Iterator[dict[str, Any] | None]:
    found = []
    for stretch in stretches:
        found += stretch
        yield None
    nats = total(found)
    yield {
        "step": held.trained.step,
        "vocabulary": len(held.tokens),
        "tokens": found,
        "characters": len(text),
        "nats": nats,
        "nats_per_character": nats / len(text),
    }
