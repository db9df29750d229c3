"""The family `tokenizer`: text to ids and back. One file per kind."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, final

import numpy as np


class Tokenizer(ABC):
    """Learned once from text, then fixed. Ids are 0 to ``vocabulary_size`` − 1.

    A member's ``__init__`` takes its settings only; `learn` or `restore` makes it usable. A token stands for bytes of
    UTF-8, which need not be whole characters.
    """

    version: ClassVar[int] = 1
    places: ClassVar[tuple[str, ...]] = ()
    """Settings that only say where something lies: they are no part of a run's identity."""
    learn_from: str = "training"
    """Whose text `learn` is to be given: ``"training"``, or ``"all"`` (labelled in every report as peeking)."""
    loss: str | None = None
    """Why decoding may not give the text back, as the end of a sentence ("it lowers capitals"); ``None``: it always
    does."""

    @classmethod
    def pinned(cls, resolved: Mapping[str, Any]) -> dict[str, Any]:
        """``resolved`` settings with those filled in that say which thing lies at a place, once a study begins."""
        return dict(resolved)

    @property
    @final
    def lossless(self) -> bool:
        """Whether decoding gives every text back."""
        return self.loss is None

    @abstractmethod
    def learn(self, documents: Iterable[str], alphabet: str) -> None:
        """Learn from ``documents``, which are read once. ``alphabet``: every distinct character of the whole corpus
        and its separator, in code-point order; each can be written afterwards, whether or not ``documents`` hold it."""

    @property
    @abstractmethod
    def vocabulary_size(self) -> int:
        """How many ids there are."""

    @abstractmethod
    def encode(self, text: str) -> np.ndarray:
        """The ids of ``text``: int32, [tokens]. A `ValueError` lists characters that cannot be written and where."""

    @abstractmethod
    def token_bytes(self) -> list[bytes]:
        """What every id stands for in UTF-8; may be part of a character. Where the tokenizer is lossless, the bytes of
        a text's tokens put together are the text's."""

    def tokens(self) -> list[str]:
        """The text of every id for people to read; bytes that are no whole character as ``\\xNN``."""
        return [token.decode(errors="backslashreplace") for token in self.token_bytes()]

    def decode(self, ids: Sequence[int] | np.ndarray) -> str:
        """The text of ``ids``; bytes that are no whole character become U+FFFD. A `ValueError` names an id that is
        none."""
        return joined(self.token_bytes(), ids).decode(errors="replace")

    def remarks(self) -> list[str]:
        """What a reader of results should be told about this tokenizer, one sentence each."""
        return []

    @final
    def _repr_html_(self) -> str:
        """What a notebook shows of the tokenizer."""
        from onechange import tokenizer_card

        return tokenizer_card.card(self)

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """The learned tokenizer as the content of a Hugging Face `tokenizer.json`, in JSON values: the library
        `tokenizers` loads it and encodes and decodes the same."""

    @abstractmethod
    def restore(self, content: dict[str, Any]) -> None:
        """The inverse of `to_json`. A `ValueError` says what is wrong with a content that this member with these
        settings would not have written."""


def joined(tokens: Sequence[bytes], ids: Iterable[int]) -> bytes:
    """The bytes of ``ids`` put together; a `ValueError` names an id that is not one of ``tokens``."""
    numbers = [int(number) for number in ids]
    wrong = [number for number in numbers if not 0 <= number < len(tokens)]
    if wrong:
        raise ValueError(f"no token has the id {wrong[0]}: ids are 0 to {len(tokens) - 1}")
    return b"".join([tokens[number] for number in numbers])
