"""Several tokenizers on the same corpus, side by side."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from onechange import dataset, notebook, tokenizer_show
from onechange.documents import Corpus
from onechange.prompts import demonstration
from onechange.report.digits import DASH, count
from onechange.settings import DEFAULTS
from onechange.study import DEMONSTRATION
from onechange.tokenizer import Tokenizer
from onechange.tokenizer_figures import Figures, figures
from onechange.tokenizer_show import Split
from onechange.tokenizer_word import Wanted
from onechange.watching import Watch, unwatched

COLUMNS: dict[str, Callable[["Entry"], str]] = {
    "vocabulary": lambda entry: count(entry.figures.vocabulary),
    "characters per token, training text": lambda entry: _ratio(entry.figures.training.characters_per_token),
    "characters per token, validation text": lambda entry: _ratio(
        entry.figures.validation.characters_per_token
    ),
    "bytes per token, training text": lambda entry: _ratio(entry.figures.training.bytes_per_token),
    "bytes per token, validation text": lambda entry: _ratio(entry.figures.validation.bytes_per_token),
    "tokens per word": lambda entry: _ratio(entry.figures.tokens_per_word),
    "unused tokens": lambda entry: count(entry.figures.unused),
    "parameters": lambda entry: count(entry.figures.parameters),
    "embedding, share of them": lambda entry: f"{entry.figures.embedding_share:.0%}",
    "lossless": lambda entry: "yes" if entry.tokenizer.loss is None else f"no: {entry.tokenizer.loss}",
}
"""What is told of every tokenizer, each as text."""


@dataclass(frozen=True)
class Entry:
    """One of the tokenizers that are compared."""

    label: str
    tokenizer: Tokenizer
    figures: Figures
    split: Split
    """The text that is shown under each tokenizer."""
    seconds: float
    """What it took to learn or read the tokenizer and to encode the corpus with it."""

    def to_json(self) -> dict[str, Any]:
        """The entry as JSON values."""
        return {
            "tokenizer": self.label,
            "lossless": self.tokenizer.lossless,
            "loss": self.tokenizer.loss,
            "remarks": self.tokenizer.remarks(),
            **self.figures.to_json(),
            "split": self.split.to_json(),
            "seconds": self.seconds,
        }


@dataclass(frozen=True, repr=False)
class Comparison:
    """What `compare` found."""

    corpus: dict[str, Any]
    width: int
    layers: int
    entries: tuple[Entry, ...]

    def to_json(self) -> dict[str, Any]:
        """All of it as JSON values."""
        return {
            "corpus": self.corpus,
            "width": self.width,
            "layers": self.layers,
            "tokenizers": [entry.to_json() for entry in self.entries],
        }

    def rows(self) -> list[list[str]]:
        """One row per tokenizer: its label, and a cell for each of `COLUMNS`."""
        return [[entry.label, *(cell(entry) for cell in COLUMNS.values())] for entry in self.entries]

    def __repr__(self) -> str:
        return f"Comparison of {', '.join(entry.label for entry in self.entries)}"

    def _repr_html_(self) -> str:
        return notebook.table(("tokenizer", *COLUMNS), self.rows()) + "".join(
            notebook.titled(entry.label, entry.split._repr_html_()) for entry in self.entries
        )


def compare(
    corpus: Corpus,
    wanted: Sequence[Wanted],
    *,
    width: int = DEFAULTS["width"],
    layers: int = DEFAULTS["layers"],
    text: str | None = None,
    watch: Watch = unwatched,
    begun: Callable[[str], None] = lambda label: None,
) -> Comparison:
    """Every tokenizer of ``wanted`` on ``corpus``, learned from it unless it is kept in a file.

    ``width``, ``layers``: of the model whose parameters are counted. ``text`` is shown as each splits it; by default a
    sentence, or where the corpus lacks its characters the beginning of the validation text. ``begun`` is told the
    label of each tokenizer. A `ValueError` names a tokenizer that cannot write the corpus or the text.
    """
    shown = demonstration(DEMONSTRATION, corpus) if text is None else text
    entries = []
    for one in wanted:
        begun(one.label)
        try:
            entries.append(_entry(corpus, one, width, layers, shown, watch))
        except ValueError as error:
            raise ValueError(f"{one.label}: {error.args[0]}") from None
    return Comparison(corpus.facts, width, layers, tuple(entries))


def _entry(corpus: Corpus, one: Wanted, width: int, layers: int, text: str, watch: Watch) -> Entry:
    start = time.perf_counter()
    if one.resolved is not None:
        data = dataset.made(corpus, one.resolved, watch=watch)
    else:
        data = dataset.dataset(corpus, one.tokenizer(lambda: corpus))
    seconds = time.perf_counter() - start
    split = tokenizer_show.split(data.tokenizer, text)
    return Entry(one.label, data.tokenizer, figures(corpus, data, width, layers), split, seconds)


def _ratio(value: float | None) -> str:
    return DASH if value is None else f"{value:.2f}"
