"""Several tokenizers on the same corpus, side by side."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from onechange import dataset, notebook, tokenizer_show
from onechange.documents import Corpus
from onechange.prompts import demonstration
from onechange.study import DEMONSTRATION
from onechange.tokenizer import Tokenizer
from onechange.tokenizer_figures import Figures, figures
from onechange.tokenizer_show import Split
from onechange.tokenizer_word import Wanted
from onechange.watching import Watch, unwatched

HEADS = (
    "tokenizer",
    "vocabulary",
    "characters per token",
    "bytes per token",
    "tokens per word",
    "unused",
    "embedding",
    "lossless",
)
"""The columns of a comparison in short; characters and bytes per token are those of the validation text."""


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
        """The cells under `HEADS`, as text."""
        return [_cells(entry, self.ruler(entry)) for entry in self.entries]

    @staticmethod
    def ruler(entry: Entry) -> tuple[float | None, float | None]:
        """Characters and bytes per token of the validation text, of the training text where there is none."""
        found = entry.figures.validation if entry.figures.validation.tokens else entry.figures.training
        return found.characters_per_token, found.bytes_per_token

    def __repr__(self) -> str:
        return f"Comparison of {', '.join(entry.label for entry in self.entries)}"

    def _repr_html_(self) -> str:
        return notebook.table(HEADS, self.rows()) + "".join(
            f"<p><b>{notebook.escape(entry.label)}</b></p>{entry.split._repr_html_()}" for entry in self.entries
        )
