"""The ruler's other readings: where in a text a model is surprised. All come from the ruler's one pass.

By position in the window and by characters in view: from those of its windows that do not overlap. By kind of text,
and at every single character: from the windows that overlap, so that sums are the ruler's own.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float32, Int

from onechange import excerpt, kinds
from onechange.bins import Bins
from onechange.encoding import Encoding, release
from onechange.kinds import KINDS
from onechange.measure import ROWS, Measure, measure
from onechange.model import Model
from onechange.scoring import Batch
from onechange.spelling import Spelling
from onechange.tokenizer import Tokenizer

MOST_CHARACTERS = 1_000_000
"""So many characters' surprises are kept one by one."""


@dataclass(frozen=True, eq=False)
class Readings:
    """One checkpoint's readings of one text."""

    by_position: list[dict[str, Any]]
    by_context: list[dict[str, Any]]
    by_kind: dict[str, dict[str, Any]]
    characters: Float32[np.ndarray, " characters"]
    """The surprise at every character of the first whole stories that have `MOST_CHARACTERS` at most."""
    excerpt: Float32[np.ndarray, " shown"]
    """The same of `onechange.excerpt` alone."""

    def sums(self) -> dict[str, Any]:
        """Nats and characters by position, context and kind, ready for JSON."""
        return {"by_position": self.by_position, "by_context": self.by_context, "by_kind": self.by_kind}

    def to_json(self) -> dict[str, Any]:
        """All that stands in `measures.json`."""
        return {**self.sums(), "excerpt": [round(float(nats), 4) for nats in self.excerpt]}


def measured(
    model: Model,
    tokenizer: Tokenizer,
    text: Encoding,
    separator: Int[np.ndarray, " tokens"],
    rows: int = ROWS,
) -> tuple[Measure, Readings]:
    """`onechange.measure.measure` of the text, and its readings. Memory does not grow with the text."""
    reader = _Reader(model, tokenizer, text)
    found = measure(model, tokenizer, text, separator, rows, reader.read)
    return found, reader.readings()


class _Reader:
    """Collects what the ruler's windows tell."""

    def __init__(self, model: Model, tokenizer: Tokenizer, text: Encoding) -> None:
        self._model = model
        self._lengths = text.tokens.characters
        self._spelling = Spelling(tokenizer.token_bytes())
        self._kinds = _Kinds(tokenizer, text)
        self._by_position, self._by_context = Bins(), Bins()
        self._kind_nats = np.zeros(len(KINDS))
        self._kind_characters = np.zeros(len(KINDS), dtype=np.int64)
        ends = text.story_characters.cumsum()
        whole = int(np.searchsorted(ends, MOST_CHARACTERS, side="right"))
        kept = int(ends[whole - 1]) if whole else min(MOST_CHARACTERS, text.characters)
        self._characters = np.zeros(1 + kept, dtype=np.float32)  # the first is before the text
        self._done = 0
        self._last_kind = np.zeros(1, dtype=np.uint8)
        self._excerpt = excerpt.length(text.story_characters[: excerpt.ABOUT].tolist())

    def read(self, batch: Batch) -> None:
        """Take up some windows; they come in the order of the text."""
        lengths, nats = self._lengths[batch.targets[batch.alone]], batch.nats[batch.alone]
        self._by_position.add(batch.alone.nonzero()[1] + 1, nats, lengths)
        self._by_context.add(self._lengths[batch.inputs].cumsum(axis=1)[batch.alone], nats, lengths)
        new = batch.overlapping
        features = batch.features[torch.from_numpy(new)]
        spelled = self._spelling.surprises(self._model, features, batch.targets[new], batch.nats[new])
        begun = self._kinds.next(len(spelled) - 1)
        kind = np.append(self._last_kind, begun)  # the first was begun by the windows before these
        self._last_kind = kind[-1:]
        self._kind_nats += np.bincount(kind, spelled, len(KINDS))
        self._kind_characters += np.bincount(begun, minlength=len(KINDS))
        kept = self._characters[self._done : self._done + len(spelled)]
        kept += spelled[: len(kept)]
        self._done += len(begun)

    def readings(self) -> Readings:
        """What was found, once all windows were read."""
        return Readings(
            by_position=self._by_position.to_json(),
            by_context=self._by_context.to_json(),
            by_kind={
                kind: {"nats": float(nats), "characters": int(characters)}
                for kind, nats, characters in zip(KINDS, self._kind_nats, self._kind_characters, strict=True)
            },
            characters=self._characters[1:],
            excerpt=self._characters[1 : 1 + self._excerpt],
        )


class _Kinds:
    """The kind of every character of a text, from its first to its last, a story in memory at a time."""

    def __init__(self, tokenizer: Tokenizer, text: Encoding) -> None:
        self._names = kinds.names(_stories(tokenizer, text))
        self._stories = _stories(tokenizer, text)
        self._waiting = np.empty(0, dtype=np.uint8)

    def next(self, characters: int) -> np.ndarray:
        """The kinds of the next so many characters."""
        parts, missing = [self._waiting], characters - len(self._waiting)
        while missing > 0:
            parts.append(kinds.of(next(self._stories), self._names))
            missing -= len(parts[-1])
        found = np.concatenate(parts) if len(parts) > 1 else self._waiting
        self._waiting = found[characters:]
        return found[:characters]


def _stories(tokenizer: Tokenizer, text: Encoding) -> Iterator[str]:
    """The text story by story, each with the separator after it."""
    tokens, start = tokenizer.token_bytes(), 0
    for end in text.story_tokens.cumsum().tolist():
        yield b"".join([tokens[number] for number in text.ids[start:end].tolist()]).decode(errors="replace")
        release(text.ids)
        start = end
