"""A small text treated as if it were large, and every fact about a dataset in values that can be compared."""

from pathlib import Path
from typing import Any

import numpy as np

from onechange import dataset, documents, family, processor, text_store
from onechange.dataset import Dataset
from onechange.documents import Corpus

STORIES = [
    f"{who} säw a {what} on day {day}.\nIt was {how}, said «{who}»! 🐟"
    for day in range(3)
    for who in ("Tom", "Lily", "A dog", "日本")
    for what in ("cat", "big red kite")
    for how in ("lost", "very kind")
]
"""48 of them, in characters of one to four bytes."""
TEXT = "\n<|endoftext|>\n".join([*STORIES[:30], STORIES[3], "  ", *STORIES[30:], STORIES[0]]) + "\n"
BPE = family.resolve("tokenizer", {"name": "bpe", "vocabulary": 60})


def small(patch: Any) -> None:
    """Let ``patch(module, name, value)`` lower the bounds: many blocks of a few stories, in one process."""
    patch(documents, "LARGE", 200)
    patch(text_store, "BLOCK", 300)
    patch(processor, "threads", lambda wanted: wanted or 1)


def table(path: Path, **other: Any) -> dict[str, Any]:
    """The text as a corpus."""
    return family.resolve("corpus", {"name": "file", "path": str(path), **other})


def work(path: Path, cache: Path, tokenizer: dict[str, Any] = BPE, test: float = 0.0) -> dict[str, Any]:
    """Prepare, learn and encode; the facts of what came of it."""
    corpus = documents.prepare(table(path, test=test), cache=cache)
    return facts(corpus, dataset.made(corpus, tokenizer, cache=cache))


def facts(corpus: Corpus, data: Dataset) -> dict[str, Any]:
    """Everything that a study uses, as JSON values."""
    found: dict[str, Any] = {
        "stories": [list(corpus.training), list(corpus.validation)],
        "test": list(corpus.test),
        "corpus": [corpus.facts, corpus.fingerprint, corpus.alphabet, corpus.validation_log_probability],
        "tokenizer": data.tokenizer.to_json(),
        "separator": data.separator.tolist(),
        "sample": [data.training_sample.tolist(), data.training_sample_characters],
    }
    for part in ("training", "validation", *(["test"] if data.test else [])):
        encoding = getattr(data, part)
        values = {name: value for name, value in vars(encoding).items() if name != "tokens"}
        table = {f"tokens.{name}": value for name, value in vars(encoding.tokens).items()}
        for name, value in {**values, **table}.items():
            array = isinstance(value, np.ndarray)
            found[f"{part}.{name}"] = [value.dtype.name, value.tolist()] if array else value
    return found
