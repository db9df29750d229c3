"""The text of a run, made again from its recipe alone: for processes that were handed nothing but the recipe."""

import json
from collections.abc import Mapping
from typing import Any

from onechange import dataset
from onechange.dataset import Dataset
from onechange.documents import Corpus, prepare
from onechange.recipe import Recipe


class Texts:
    """Corpora and their encodings, each made once for all the runs that share it."""

    def __init__(self) -> None:
        self._corpora: dict[str, Corpus] = {}
        self._datasets: dict[tuple[str, str], Dataset] = {}

    def of(self, recipe: Recipe) -> Dataset:
        """The corpus of ``recipe`` under its tokenizer. A `ValueError` says that the text is not what it was."""
        source = _key(recipe.corpus)
        if source not in self._corpora:
            self._corpora[source] = prepare(recipe.corpus)
        corpus = self._corpora[source]
        if corpus.fingerprint != recipe.corpus_fingerprint:
            raise ValueError(
                f"the text has changed: its fingerprint is {corpus.fingerprint[:12]}, "
                f"the run's {recipe.corpus_fingerprint[:12]}"
            )
        key = corpus.fingerprint, _key(recipe.tokenizer)
        if key not in self._datasets:
            self._datasets[key] = dataset.made(corpus, recipe.tokenizer)
        return self._datasets[key]


def _key(resolved: Mapping[str, Any]) -> str:
    return json.dumps(resolved, sort_keys=True)
