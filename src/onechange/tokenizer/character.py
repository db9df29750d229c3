"""Every character of the corpus is a token.

The id of a character is its rank in code-point order.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any, final

import numpy as np

from onechange.alphabet import Alphabet, join
from onechange.tokenizer import Tokenizer, state_values


@final
class Character(Tokenizer):
    """One id per character. It has no settings and learns nothing but the alphabet."""

    lossless = True

    def __init__(self) -> None:
        self._alphabet: Alphabet | None = None

    def learn_from_counts(self, counts: Counter[str], alphabet: str) -> None:
        self._alphabet = Alphabet(alphabet)

    @property
    def vocabulary_size(self) -> int:
        return len(self._known())

    def encode(self, text: str) -> np.ndarray:
        return self._known().ids(text)

    def decode(self, ids: Sequence[int] | np.ndarray) -> str:
        return join(self._known().characters, ids)

    def tokens(self) -> list[str]:
        return list(self._known().characters)

    def state(self) -> dict[str, Any]:
        return {"alphabet": self._known().characters}

    def restore(self, state: dict[str, Any]) -> None:
        (alphabet,) = state_values(state, alphabet=str)
        self._alphabet = Alphabet(alphabet)

    def _known(self) -> Alphabet:
        assert self._alphabet is not None, "learn or restore comes first"
        return self._alphabet
