"""Every byte of the text's UTF-8 is a token.

The id of a byte is its value, so there are 256. Nothing is learned, and every text can be written. A character of
ASCII is one token, a letter with an accent two, most Chinese characters three, most emoji four.
"""

from collections.abc import Iterable
from typing import Any, final

import numpy as np

from onechange import hugging_face, utf8
from onechange.tokenizer import Tokenizer


@final
class Byte(Tokenizer):
    """One id per byte. It has no settings."""

    def learn(self, documents: Iterable[str], alphabet: str) -> None:
        pass

    @property
    def vocabulary_size(self) -> int:
        return 256

    def encode(self, text: str) -> np.ndarray:
        return np.frombuffer(utf8.encoded(text), dtype=np.uint8).astype(np.int32)

    def token_bytes(self) -> list[bytes]:
        return [bytes([value]) for value in range(256)]

    def to_json(self) -> dict[str, Any]:
        vocabulary = {character: value for value, character in enumerate(hugging_face.BYTES)}
        return hugging_face.content(
            hugging_face.byte_pairs(vocabulary, []), hugging_face.byte_level(), hugging_face.byte_level()
        )

    def restore(self, content: dict[str, Any]) -> None:
        hugging_face.agree(content, self.to_json())
