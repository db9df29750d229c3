"""The ruler: exact nats per character and bits per byte over a whole text.

Every token is scored once, from a float32 forward pass, in windows that overlap by half, so that each token has at
least half a window of context as soon as there is that much text before it. The separator stands before the first
token. Sums are float64, and are divided by the text's own characters and bytes.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int

from onechange.encoding import Encoding
from onechange.model import Model
from onechange.tokenizer import Tokenizer

ROWS = 32


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
) -> Measure:
    """Score ``text`` with ``model``. ``rows``: windows per forward pass; the figures do not depend on it.

    Raises a `ValueError` for an empty text and for a tokenizer that is not lossless, which has no nats per character.
    """
    if not tokenizer.lossless:
        raise ValueError("the tokenizer is not lossless, so the text it stands for has no nats per character")
    if not len(text.ids):
        raise ValueError("the text is empty: there is nothing to measure")
    stories = _stories(tokenizer, text)
    nats = surprises(model, text.ids, separator, rows)
    return Measure(
        nats=np.bincount(stories, weights=nats, minlength=len(text.story_tokens)),
        tokens=len(text.ids),
        characters=text.characters,
        bytes=text.bytes,
        story_characters=text.story_characters,
        story_bytes=text.story_bytes,
    )


def _stories(tokenizer: Tokenizer, text: Encoding) -> Int[np.ndarray, " tokens"]:
    """The story of every token; a `ValueError` unless the tokens' characters are each story's and the whole text's."""
    if text.story_tokens.sum() != len(text.ids):
        raise ValueError(
            f"the stories have {text.story_tokens.sum():,} tokens, the text {len(text.ids):,}: characters are missing"
        )
    stories = np.repeat(np.arange(len(text.story_tokens)), text.story_tokens)
    lengths = np.array([len(token) for token in tokenizer.tokens()])[text.ids]
    held = np.bincount(stories, weights=lengths, minlength=len(text.story_tokens))
    if held.sum() != text.characters or (held != text.story_characters).any():
        raise ValueError(
            f"the tokens hold {int(held.sum()):,} characters, the text {text.characters:,}: not the same text"
            + (", story by story" if held.sum() == text.characters else "")
        )
    return stories


@torch.no_grad()
def surprises(
    model: Model, ids: Int[np.ndarray, " tokens"], context: Int[np.ndarray, " context"], rows: int = ROWS
) -> Float[np.ndarray, " tokens"]:
    """The surprise at every token in nats, float64; ``context`` stands before the first. Dropout is off."""
    assert len(context), "the first token needs something before it"
    context = context[-model.sizes.window :]
    stream = np.concatenate((context, ids))
    nats = np.zeros(len(stream))
    was_training = model.training
    model.eval()
    try:
        for start, first in _windows(len(stream), model.sizes.window, len(context), rows):
            length = min(model.sizes.window, len(stream) - 1 - int(start[0]))
            at = start[:, None] + np.arange(length + 1)
            batch = torch.from_numpy(stream[at].astype(np.int64))
            scored = model.nats(batch[:, :-1], batch[:, 1:]).double().numpy()
            for row, place in enumerate(start):
                nats[place + first[row] + 1 : place + length + 1] = scored[row, first[row] :]
    finally:
        model.train(was_training)
    return nats[len(context) :]


def _windows(
    stream: int, window: int, context: int, rows: int
) -> Iterator[tuple[Int[np.ndarray, " rows"], Int[np.ndarray, " rows"]]]:
    """Batches of window starts, and from which place of each window on its targets count."""
    half = max(1, window // 2)
    inputs = stream - 1
    starts = [0]
    while starts[-1] + window < inputs:
        starts.append(min(starts[-1] + half, inputs - window))
    # A window's first counted target is the one after the last that the window before it counted.
    firsts = [context - 1] + [before + window - start for before, start in pairwise(starts)]
    for at in range(0, len(starts), rows):
        yield np.array(starts[at : at + rows]), np.array(firsts[at : at + rows])
