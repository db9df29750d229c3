"""What an export is tried on: real text where the run's corpus is at hand, else text that its tokenizer makes."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from onechange import documents, family
from onechange.export.origin import Origin
from onechange.tokenizer import Tokenizer

STORIES = 40
"""How many stories are encoded and decoded."""
WINDOWS = 4
"""How many whole windows are scored."""
GREEDY = 100
"""Tokens that are written by the likeliest."""


@dataclass(frozen=True)
class Material:
    """Text, and rows of its tokens."""

    what: str
    """Which text it is, for people."""
    texts: Sequence[str]
    rows: Sequence[Int[Tensor, " time"]]
    """Whole windows, and shorter stretches."""
    prompts: Int[Tensor, "prompts time"]
    """Beginnings of texts, to be gone on with for `new` tokens each."""
    new: int
    """So many that no token is written that does not see all of its text: what is done where a window is full is each
    program's own affair."""


def gathered(origin: Origin) -> Material:
    """The material for one export; the same run gives the same."""
    tokenizer, window = origin.trained.tokenizer, origin.trained.recipe.window
    stories = _stories(origin)
    what = "its validation text" if stories else "text made of random tokens"
    # A separator stands before the first story too, as before every prompt.
    texts = [origin.separator, *(stories or _made(tokenizer))]
    parts = chain.from_iterable((tokenizer.encode(story), tokenizer.encode(texts[0])) for story in texts[1:])
    ids = np.concatenate([tokenizer.encode(texts[0]), *islice(parts, 2 * STORIES)]).astype(np.int64)
    text = torch.from_numpy(
        np.resize(ids, max(len(ids), WINDOWS * window))
    )  # a short one is gone on with anew
    return Material(what, texts, list(_rows(text, window)), *_prompts(text, window))


def _rows(text: Int[Tensor, " tokens"], window: int) -> Iterator[Int[Tensor, " time"]]:
    for number in range(WINDOWS):
        begin = number * (len(text) - window) // (WINDOWS - 1)
        yield text[begin : begin + window]
    for length in sorted({1, 2, window // 3, window // 2, window - 1} - {0, window}):
        if length < window:
            yield text[:length]


def _prompts(text: Int[Tensor, " tokens"], window: int) -> tuple[Int[Tensor, "prompts time"], int]:
    length = max(1, window // 4)
    new = window - length + 1
    prompts = math.ceil(GREEDY / new)
    begins = [number * (len(text) - length) // prompts for number in range(prompts)]
    return torch.stack([text[begin : begin + length] for begin in begins]), min(new, GREEDY)


def _stories(origin: Origin) -> list[str]:
    """The first validation stories; none where the corpus is not at hand, is another one now, or is very large."""
    recipe = origin.trained.recipe
    if family.is_from_outside("corpus", recipe.corpus["name"]) or not _is_small(recipe.corpus):
        return []
    try:
        corpus = documents.prepare(recipe.corpus)
    except (ValueError, LookupError, OSError):
        return []
    if corpus.fingerprint != recipe.corpus_fingerprint:
        return []
    return list(islice(corpus.validation, STORIES))


def _is_small(corpus: dict[str, Any]) -> bool:
    """Whether the corpus is in memory within seconds."""
    if corpus["characters"] is not None:
        return corpus["characters"] <= documents.LARGE
    path = Path(corpus.get("path") or "").expanduser()
    return path.is_file() and path.stat().st_size <= documents.LARGE


def _made(tokenizer: Tokenizer) -> list[str]:
    """Texts of random tokens that the tokenizer gives back as they are."""
    random = np.random.default_rng(0)
    texts = []
    for _ in range(4 * STORIES):
        text = tokenizer.decode(random.integers(tokenizer.vocabulary_size, size=200))
        try:
            ids = tokenizer.encode(text)
        except ValueError:  # the mark of bytes that are no character is not in every alphabet
            continue
        if tokenizer.decode(ids) == text:
            texts.append(text)
    if not texts:
        raise ValueError("the tokenizer writes no text that it can read: the export cannot be tried")
    return texts[:STORIES]
