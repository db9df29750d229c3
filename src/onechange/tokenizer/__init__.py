"""The family `tokenizer`: text to ids and back. One file per kind."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import msgspec
import numpy as np


class Tokenizer(ABC):
    """Learned once from text, then fixed. Ids are 0 to ``vocabulary_size`` − 1.

    A member's ``__init__`` takes its settings only; `learn` or `restore` makes it usable.
    """

    version: ClassVar[int] = 1
    lossless: ClassVar[bool]
    learn_from: str = "training"
    """Whose text `learn` is to be given: ``"training"``, or ``"all"`` (labelled in every report as peeking)."""

    def learn(self, documents: Iterable[str], alphabet: str) -> None:
        """Learn from ``documents``. ``alphabet``: every distinct character of the whole corpus and its separator,
        in code-point order; each gets an id whether or not ``documents`` hold it."""
        self.learn_from_counts(self.count(documents), alphabet)

    def count(self, documents: Iterable[str]) -> Counter[str]:
        """All that is learned from documents: how often each piece of text stands in them, whatever a piece is to a
        member. Counts of several lots of documents add up, so that a large text is counted by several processes."""
        return Counter()

    @abstractmethod
    def learn_from_counts(self, counts: Counter[str], alphabet: str) -> None:
        """The rest of `learn`, from what `count` found."""

    @property
    @abstractmethod
    def vocabulary_size(self) -> int:
        """How many ids there are."""

    @abstractmethod
    def encode(self, text: str) -> np.ndarray:
        """The ids of ``text``: int32, [tokens]. A `ValueError` lists characters outside the alphabet and where."""

    @abstractmethod
    def decode(self, ids: Sequence[int] | np.ndarray) -> str:
        """The text of ``ids``."""

    @abstractmethod
    def tokens(self) -> list[str]:
        """The text of every id."""

    def remarks(self) -> list[str]:
        """What a reader of results should be told about this tokenizer, one sentence each."""
        return []

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """What `restore` needs, as JSON values."""

    @abstractmethod
    def restore(self, state: dict[str, Any]) -> None:
        """The inverse of `state`; a `ValueError` says what is wrong with a state that is not one."""


def state_values(state: object, **kinds: Any) -> list[Any]:
    """The values of a `Tokenizer.state` that must hold the keys of ``kinds`` and no other, each of its kind."""
    if not isinstance(state, dict) or set(state) != set(kinds):
        found = ", ".join(map(repr, state)) if isinstance(state, dict) else type(state).__name__
        raise ValueError(f"the state must hold {', '.join(map(repr, kinds))}, not {found or 'nothing'}")
    values = []
    for key, kind in kinds.items():
        try:
            values.append(msgspec.convert(state[key], kind))
        except msgspec.ValidationError as error:
            raise ValueError(f"the state's {key!r}: {error}") from None
    return values
