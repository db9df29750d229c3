"""Every character of the corpus is a token.

The id of a character is its rank in code-point order.
"""

from collections.abc import Iterable
from typing import Any, final

import numpy as np

from onechange import hugging_face
from onechange.alphabet import Alphabet
from onechange.tokenizer import Tokenizer

UNKNOWN = "<unk>"
"""No character: the library `tokenizers` looks for a token so called, and finds that there is none."""


@final
class Character(Tokenizer):
    """One id per character. It has no settings and learns nothing but the alphabet."""

    def __init__(self) -> None:
        self._alphabet: Alphabet | None = None

    def learn(self, documents: Iterable[str], alphabet: str) -> None:
        self._alphabet = Alphabet(alphabet)

    @property
    def vocabulary_size(self) -> int:
        return len(self._known())

    def encode(self, text: str) -> np.ndarray:
        return self._known().ids(text)

    def token_bytes(self) -> list[bytes]:
        return [character.encode() for character in self._known().characters]

    def to_json(self) -> dict[str, Any]:
        ids = {character: number for number, character in enumerate(self._known().characters)}
        return hugging_face.content(
            {"type": "WordLevel", "vocab": ids, "unk_token": UNKNOWN},
            hugging_face.split(r"[\s\S]"),
            {"type": "Fuse"},
        )

    def restore(self, content: dict[str, Any]) -> None:
        self._alphabet = Alphabet("".join(hugging_face.vocabulary(content)))
        hugging_face.agree(content, self.to_json())

    def _known(self) -> Alphabet:
        assert self._alphabet is not None, "learn or restore comes first"
        return self._alphabet
