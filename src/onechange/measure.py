"""The ruler: exact nats per character and bits per byte over a whole text.

Every token is scored once, from a float32 forward pass, in windows that overlap by half, so that each token has at
least half a window of context as soon as there is that much text before it. The separator stands before the first
token. Sums are float64, and are divided by the text's own characters and bytes.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int, Integer

from onechange import scoring
from onechange.encoding import Encoding
from onechange.model import Model
from onechange.scoring import Batch
from onechange.token_table import token_table
from onechange.tokenizer import Tokenizer

ROWS = 32
_STORIES = 10_000
"""How many stories are compared with their tokens at a time."""


@dataclass(frozen=True, eq=False)
class Measure:
    """One checkpoint's figures on one text."""

    nats: Float[np.ndarray, " stories"]
    """Surprise over each story and the separator after it."""
    tokens: int
    characters: int
    bytes: int
    story_characters: Int[np.ndarray, " stories"]
    story_bytes: Int[np.ndarray, " stories"]

    @property
    def total_nats(self) -> float:
        """Surprise over the whole text."""
        return math.fsum(self.nats)

    def to_json(self) -> dict[str, Any]:
        """The figures as they stand in `measures.json`."""
        total = self.total_nats
        return {
            "nats": total,
            "tokens": self.tokens,
            "characters": self.characters,
            "bytes": self.bytes,
            "nats_per_token": total / self.tokens,
            "nats_per_character": total / self.characters,
            "bits_per_byte": total / math.log(2) / self.bytes,
            "stories": {
                "nats": self.nats.tolist(),
                "characters": self.story_characters.tolist(),
                "bytes": self.story_bytes.tolist(),
            },
        }


def measure(
    model: Model,
    tokenizer: Tokenizer,
    text: Encoding,
    separator: Int[np.ndarray, " tokens"],
    rows: int = ROWS,
    reader: Callable[[Batch], None] | None = None,
) -> Measure:
    """Score ``text`` with ``model``. ``rows``: windows per forward pass; the figures do not depend on it.

    ``reader`` is shown all windows, in order, once they are scored: for other readings of the same pass.

    Raises a `ValueError` for an empty text and for a tokenizer that is not lossless, which has no nats per character.
    """
    if not tokenizer.lossless:
        raise ValueError(
            f"the tokenizer is not lossless ({tokenizer.loss}), so the text it stands for has no nats per character"
        )
    if not len(text.ids):
        raise ValueError("the text is empty: there is nothing to measure")
    _check(tokenizer, text)
    ends, nats = text.story_tokens.cumsum(), np.zeros(len(text.story_tokens))
    for batch in scoring.batches(model, text.ids, separator, rows):
        stories = np.searchsorted(ends, batch.numbers[batch.overlapping], side="right")
        np.add.at(nats, stories, batch.nats[batch.overlapping])
        if reader is not None:
            reader(batch)
    return Measure(
        nats=nats,
        tokens=len(text.ids),
        characters=text.characters,
        bytes=text.bytes,
        story_characters=text.story_characters,
        story_bytes=text.story_bytes,
    )


def _check(tokenizer: Tokenizer, text: Encoding) -> None:
    """Raise a `ValueError` unless the tokens' characters and bytes are each story's and the whole text's."""
    ends = text.story_tokens.cumsum()
    tokens = int(ends[-1])
    if tokens != len(text.ids):
        raise ValueError(
            f"the stories have {tokens:,} tokens, the text {len(text.ids):,}: characters are missing"
        )
    table = token_table(tokenizer.token_bytes())
    told = {"characters": text.story_characters, "bytes": text.story_bytes}
    total, same = dict.fromkeys(told, 0), True
    for first in range(0, len(ends), _STORIES):
        start = int(ends[first - 1]) if first else 0
        some = ends[first : first + _STORIES] - start
        ids = text.ids[start : start + some[-1]]
        for what, stories in told.items():
            held = np.add.reduceat(getattr(table, what)[ids], np.append(0, some[:-1]))
            total[what] += int(held.sum())
            same = same and np.array_equal(held, stories[first : first + _STORIES])
    whole = list(total.values()) == [text.characters, text.bytes]
    if not whole or not same:
        raise ValueError(
            f"the tokens hold {total['characters']:,} characters in {total['bytes']:,} bytes, "
            f"the text {text.characters:,} in {text.bytes:,}: not the same text"
            + (", story by story" if whole else "")
        )


def surprises(
    model: Model, ids: Integer[np.ndarray, " tokens"], context: Int[np.ndarray, " context"], rows: int = ROWS
) -> Float[np.ndarray, " tokens"]:
    """The surprise at every token in nats, float64; ``context`` stands before the first. Dropout is off."""
    found = scoring.batches(model, ids, context, rows)
    return np.concatenate([batch.nats[batch.overlapping] for batch in found])
