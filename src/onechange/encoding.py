"""Text as ids, and where in the text every token begins.

Each story and each separator is encoded on its own and the ids are joined, so that no token spans two stories.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from onechange.tokenizer import Tokenizer


@dataclass(frozen=True, eq=False)
class Encoding:
    """One text under one tokenizer."""

    ids: Int[np.ndarray, " tokens"]
    starts: Int[np.ndarray, " tokens"]
    """The character of the text at which each token begins."""
    characters: int
    """Length of the text, separators included."""
    bytes: int
    """The same in UTF-8."""
    story_tokens: Int[np.ndarray, " stories"]
    """Tokens of each story and the separator that follows it."""
    story_characters: Int[np.ndarray, " stories"]
    """Characters of each story and the separator that follows it."""
    story_bytes: Int[np.ndarray, " stories"]

    @property
    def lengths(self) -> Int[np.ndarray, " tokens"]:
        """Characters of each token."""
        return np.diff(self.starts, append=self.characters)


def encode(tokenizer: Tokenizer, stories: Sequence[str], separator: str) -> Encoding:
    """``stories``, each followed by ``separator``, as ids.

    Raises a `ValueError` for a character outside the alphabet, and for a lossless tokenizer whose tokens'
    characters do not add up to a story's.
    """
    token_characters = np.array([len(token) for token in tokenizer.tokens()], dtype=np.int64)

    def encoded(what: str, text: str) -> np.ndarray:
        ids = tokenizer.encode(text)
        if tokenizer.lossless and token_characters[ids].sum() != len(text):
            raise ValueError(f"{what}: its tokens hold other characters than its text: {text[:40]!r}…")
        return ids

    gap = encoded("the separator", separator)
    parts: list[np.ndarray] = []
    story_tokens = np.empty(len(stories), dtype=np.int64)
    for number, story in enumerate(stories):
        ids = encoded(f"story {number}", story)
        parts += (ids, gap)
        story_tokens[number] = len(ids) + len(gap)
    ids = np.concatenate(parts).astype(np.int64) if parts else np.empty(0, dtype=np.int64)
    ends = token_characters[ids].cumsum()
    return Encoding(
        ids=ids,
        starts=np.concatenate(([0], ends[:-1])).astype(np.int64) if len(ids) else ends,
        characters=sum(len(story) + len(separator) for story in stories),
        bytes=sum(len(story.encode()) + len(separator.encode()) for story in stories),
        story_tokens=story_tokens,
        story_characters=np.array([len(story) + len(separator) for story in stories], dtype=np.int64),
        story_bytes=np.array([len((story + separator).encode()) for story in stories], dtype=np.int64),
    )
