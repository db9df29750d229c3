"""What one arm trains on and is evaluated on: the corpus under the arm's tokenizer."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from pathlib import Path
from typing import Any, Literal

import numpy as np
from jaxtyping import Int, Integer

from onechange import documents, large_encoding
from onechange.documents import Corpus
from onechange.encoding import Encoding, encode
from onechange.family import build
from onechange.text_store import Stories
from onechange.tokenizer import Tokenizer
from onechange.watching import Watch, unwatched


@dataclass(frozen=True, eq=False)
class Dataset:
    """Both splits as ids."""

    corpus: Corpus
    """The text itself."""
    tokenizer: Tokenizer
    training: Encoding
    validation: Encoding
    separator: Int[np.ndarray, " tokens"]
    """The separator's ids, the left context of a text's first token."""
    training_sample: Integer[np.ndarray, " tokens"]
    """The first whole training stories that reach the validation text's length: the training loss is theirs."""
    training_sample_characters: int
    test: Encoding | None = None
    """The text that no choice has seen, where some was put aside."""


def made(
    corpus: Corpus,
    resolved: Mapping[str, Any],
    *,
    cache: Path | Literal["user"] = "user",
    watch: Watch = unwatched,
) -> Dataset:
    """``corpus`` under the tokenizer that ``resolved`` names, learned from the text that its settings allow.

    A large corpus is encoded once and kept in ``cache``; a small one is encoded each time.
    """
    if not isinstance(corpus.training, Stories):
        return dataset(corpus, learn(corpus, resolved))
    folder = documents.user_cache() if cache == "user" else cache
    place = large_encoding.place(folder, corpus, resolved)
    found = large_encoding.read(place)
    if found is None:
        large_encoding.write(place, corpus, learn(corpus, resolved, watch), resolved, watch)
        found = large_encoding.read(place)
    if found is None:
        raise OSError(f"{place}: what was just written there cannot be read back")
    tokenizer, encodings = found
    return _dataset(corpus, tokenizer, *encodings)


def learn(corpus: Corpus, resolved: Mapping[str, Any], watch: Watch = unwatched) -> Tokenizer:
    """The tokenizer that ``resolved`` names, learned from the text that its settings allow."""
    tokenizer: Tokenizer = build("tokenizer", resolved)
    parts = [corpus.training, *([corpus.validation, corpus.test] if tokenizer.learn_from == "all" else [])]
    separators = repeat(corpus.separator, sum(map(len, parts)))
    tokenizer.learn(chain(_read(parts, watch), separators), corpus.alphabet)
    return tokenizer


def _read(parts: Sequence[Sequence[str]], watch: Watch) -> Iterator[str]:
    """All stories; ``watch`` is told how many bytes of those on the disk are done."""
    total = sum(block.bytes for part in parts if isinstance(part, Stories) for block in part.blocks)
    done = 0
    for part in parts:
        if not isinstance(part, Stories):
            yield from part
            continue
        for block in part.blocks:
            yield from block.stories()
            done += block.bytes
            watch(done, total, "learning from text")


def dataset(corpus: Corpus, tokenizer: Tokenizer) -> Dataset:
    """``corpus`` under a learned ``tokenizer``, in memory."""
    parts = [corpus.training, corpus.validation, *([corpus.test] if corpus.test else [])]
    return _dataset(corpus, tokenizer, *(encode(tokenizer, part, corpus.separator) for part in parts))


def _dataset(
    corpus: Corpus,
    tokenizer: Tokenizer,
    training: Encoding,
    validation: Encoding,
    test: Encoding | None = None,
) -> Dataset:
    reached = int(np.searchsorted(training.story_characters.cumsum(), validation.characters)) + 1
    return Dataset(
        corpus=corpus,
        tokenizer=tokenizer,
        training=training,
        validation=validation,
        separator=tokenizer.encode(corpus.separator).astype(np.int64),
        training_sample=training.ids[: training.story_tokens[:reached].sum()],
        training_sample_characters=int(training.story_characters[:reached].sum()),
        test=test,
    )
