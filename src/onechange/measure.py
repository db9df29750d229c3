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
from jaxtyping import Float, Int, Integer

from onechange.encoding import Encoding, release
from onechange.model import Model
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
) -> Measure:
    """Score ``text`` with ``model``. ``rows``: windows per forward pass; the figures do not depend on it.

    Raises a `ValueError` for an empty text and for a tokenizer that is not lossless, which has no nats per character.
    """
    if not tokenizer.lossless:
        raise ValueError("the tokenizer is not lossless, so the text it stands for has no nats per character")
    if not len(text.ids):
        raise ValueError("the text is empty: there is nothing to measure")
    _check(tokenizer, text)
    ends, nats = text.story_tokens.cumsum(), np.zeros(len(text.story_tokens))
    for first, scored in _scored(model, text.ids, separator, rows):
        stories = np.searchsorted(ends, np.arange(first, first + len(scored)), side="right")
        np.add.at(nats, stories, scored)
    return Measure(
        nats=nats,
        tokens=len(text.ids),
        characters=text.characters,
        bytes=text.bytes,
        story_characters=text.story_characters,
        story_bytes=text.story_bytes,
    )


def _check(tokenizer: Tokenizer, text: Encoding) -> None:
    """Raise a `ValueError` unless the tokens' characters are each story's and the whole text's."""
    ends = text.story_tokens.cumsum()
    tokens = int(ends[-1])
    if tokens != len(text.ids):
        raise ValueError(
            f"the stories have {tokens:,} tokens, the text {len(text.ids):,}: characters are missing"
        )
    lengths = np.array([len(token) for token in tokenizer.tokens()])
    total, same = 0, True
    for first in range(0, len(ends), _STORIES):
        start = int(ends[first - 1]) if first else 0
        some = ends[first : first + _STORIES] - start
        held = np.diff(lengths[text.ids[start : start + some[-1]]].cumsum()[some - 1], prepend=0)
        total += int(held.sum())
        same = same and np.array_equal(held, text.story_characters[first : first + _STORIES])
    if total != text.characters or not same:
        raise ValueError(
            f"the tokens hold {total:,} characters, the text {text.characters:,}: not the same text"
            + (", story by story" if total == text.characters else "")
        )


def surprises(
    model: Model, ids: Integer[np.ndarray, " tokens"], context: Int[np.ndarray, " context"], rows: int = ROWS
) -> Float[np.ndarray, " tokens"]:
    """The surprise at every token in nats, float64; ``context`` stands before the first. Dropout is off."""
    return np.concatenate([nats for _, nats in _scored(model, ids, context, rows)])


@torch.no_grad()
def _scored(
    model: Model, ids: Integer[np.ndarray, " tokens"], context: Int[np.ndarray, " context"], rows: int
) -> Iterator[tuple[int, Float[np.ndarray, " some"]]]:
    """`surprises` stretch by stretch in the order of the text, each with the number of its first token."""
    assert len(context), "the first token needs something before it"
    context = context[-model.sizes.window :]
    before, stream = len(context), len(context) + len(ids)
    was_training = model.training
    model.eval()
    try:
        for start, first in _windows(stream, model.sizes.window, before, rows):
            length = min(model.sizes.window, stream - 1 - int(start[0]))
            at = start[:, None] + np.arange(length + 1)
            read = ids[np.maximum(at - before, 0)].astype(np.int64)
            release(ids)
            batch = torch.from_numpy(np.where(at < before, context[np.minimum(at, before - 1)], read))
            scored = model.nats(batch[:, :-1], batch[:, 1:]).double().numpy()
            for row, place in enumerate(start.tolist()):
                yield place + int(first[row]) + 1 - before, scored[row, first[row] :]
    finally:
        model.train(was_training)


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
