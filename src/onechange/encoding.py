"""Text as ids, and where in the text tokens begin.

Each story and each separator is encoded on its own and the ids are joined, so that no token spans two stories.
Where a token begins follows from the ids and the characters of each token of the vocabulary; only the place of every
1,024th is kept, so that a text may be larger than memory.
"""

import mmap
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int, Integer

from onechange.token_table import TokenTable, token_table
from onechange.tokenizer import Tokenizer

SPAN = 1024
"""Tokens from one landmark to the next."""


@dataclass(frozen=True, eq=False)
class Encoding:
    """One text under one tokenizer. Arrays may be maps of files."""

    ids: Integer[np.ndarray, " tokens"]
    """Of the smallest unsigned type that holds the vocabulary's ids: widen before computing with them."""
    tokens: TokenTable
    """How much text each token of the vocabulary stands for."""
    landmarks: Int[np.ndarray, " landmarks"]
    """How many characters have begun before tokens number 0, `SPAN`, 2 · `SPAN`, …"""
    characters: int
    """Length of the text, separators included."""
    bytes: int
    """The same in UTF-8."""
    story_tokens: Int[np.ndarray, " stories"]
    """Tokens of each story and the separator that follows it."""
    story_characters: Int[np.ndarray, " stories"]
    """Characters of each story and the separator that follows it."""
    story_bytes: Int[np.ndarray, " stories"]

    def first_token(self, place: int) -> int:
        """The first token that begins with a character at or after the character ``place``; the number of tokens if
        none does. A token that begins inside a character is passed over."""
        span = max(0, int(np.searchsorted(self.landmarks, place)) - 1)
        begun = self.tokens.characters[self.ids[span * SPAN : (span + 1) * SPAN]]
        before = int(self.landmarks[span]) + begun.cumsum() - begun
        found = span * SPAN + int(np.searchsorted(before, place))
        while found < len(self.ids) and self.tokens.inside[self.ids[found]]:
            found += 1
        return found


def encode(tokenizer: Tokenizer, stories: Iterable[str], separator: str, first: int = 0) -> Encoding:
    """``stories``, each followed by ``separator``, as ids. ``first`` is the number that errors give the first story.

    Raises a `ValueError` for a character that cannot be written, and for a lossless tokenizer whose tokens'
    characters and bytes do not add up to a story's.
    """
    table = token_table(tokenizer.token_bytes())

    def encoded(what: str, text: str) -> tuple[np.ndarray, int]:
        try:
            ids = narrow(tokenizer.encode(text), len(table.bytes))
        except ValueError as error:
            raise ValueError(f"{what}: {error.args[0]}") from None
        size = len(text.encode())
        held = int(table.characters[ids].sum()), int(table.bytes[ids].sum())
        if tokenizer.lossless and held != (len(text), size):
            raise ValueError(
                f"{what}: its tokens hold other characters than its text: {held[0]:,} in {held[1]:,} bytes, "
                f"not {len(text):,} in {size:,}: {text[:40]!r}…"
            )
        return ids, size

    gap, gap_bytes = encoded("the separator", separator)
    parts: list[np.ndarray] = []
    sizes: list[tuple[int, int, int]] = []
    for number, story in enumerate(stories, first):
        ids, size = encoded(f"story {number}", story)
        parts += (ids, gap)
        sizes.append((len(ids), len(story), size))
    added = (len(gap), len(separator), gap_bytes)
    story_tokens, story_characters, story_bytes = (np.array(sizes, np.int64).reshape(-1, 3) + added).T.copy()
    ids = np.concatenate(parts) if parts else np.empty(0, dtype=gap.dtype)
    return Encoding(
        ids=ids,
        tokens=table,
        landmarks=landmarks([ids], table),
        characters=int(story_characters.sum()),
        bytes=int(story_bytes.sum()),
        story_tokens=story_tokens,
        story_characters=story_characters,
        story_bytes=story_bytes,
    )


def landmarks(
    chunks: Iterable[Integer[np.ndarray, "_"]], tokens: TokenTable
) -> Int[np.ndarray, " landmarks"]:
    """`Encoding.landmarks` of ids that come in ``chunks``, each but the last a multiple of `SPAN` long."""
    spans = [np.zeros(1, dtype=np.int64)]
    for ids in chunks:
        spans.append(
            np.add.reduceat(tokens.characters[ids], np.arange(0, len(ids), SPAN)) if len(ids) else ids
        )
    found = np.concatenate(spans).cumsum()[:-1]
    return found.astype(np.int64)


def release(ids: Integer[np.ndarray, " tokens"]) -> None:
    """Let go of what was read of a mapped file. The system may keep it, this process needs no memory for it.

    Without it a long run would hold, by and by, all of a file that is read here and there.
    """
    base: object = ids
    while isinstance(base, np.ndarray):
        base = base.base
    if isinstance(base, mmap.mmap) and hasattr(
        base, "madvise"
    ):  # Windows has none, and takes memory back itself
        base.madvise(mmap.MADV_DONTNEED)


def id_type(vocabulary: int) -> np.dtype:
    """The smallest unsigned type that holds the ids 0 to ``vocabulary`` − 1; a `ValueError` if none of 32 bits does."""
    for kind in (np.uint8, np.uint16, np.uint32):
        if vocabulary - 1 <= np.iinfo(kind).max:
            return np.dtype(kind)
    raise ValueError(f"a vocabulary of {vocabulary:,} tokens: ids of more than 32 bits cannot be kept")


def narrow(ids: Integer[np.ndarray, " tokens"], vocabulary: int) -> Integer[np.ndarray, " tokens"]:
    """``ids`` as `id_type`. An id outside the vocabulary is a `ValueError`, never another id by wrapping around."""
    if len(ids) and not 0 <= int(ids.min()) <= int(ids.max()) < vocabulary:
        wrong = int(ids[(ids < 0) | (ids >= vocabulary)][0])
        raise ValueError(f"the id {wrong:,} is none of the vocabulary's 0 to {vocabulary - 1:,}")
    return ids.astype(id_type(vocabulary))
