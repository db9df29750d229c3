"""A tokenizer whose tokens begin and end anywhere, inside characters too."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from onechange.tokenizer import Tokenizer


class Shards(Tokenizer):
    """Every text is cut into stretches of ``lengths`` bytes, again and again; each distinct one is a token."""

    def __init__(self, *texts: str, lengths: Sequence[int] = (2, 1, 5, 3, 1, 2, 7)) -> None:
        self._lengths = lengths
        self._tokens = sorted({shard for text in texts for shard in self._cut(text)})
        self._ids = {token: number for number, token in enumerate(self._tokens)}

    def _cut(self, text: str) -> list[bytes]:
        content, found = text.encode(), []
        while content:
            length = self._lengths[len(found) % len(self._lengths)]
            found.append(content[:length])
            content = content[length:]
        return found

    def learn(self, documents: Iterable[str], alphabet: str) -> None:
        raise NotImplementedError("it is given its tokens, and never learned or saved")

    @property
    def vocabulary_size(self) -> int:
        return len(self._tokens)

    def encode(self, text: str) -> np.ndarray:
        return np.array([self._ids[shard] for shard in self._cut(text)], dtype=np.int32)

    def token_bytes(self) -> list[bytes]:
        return list(self._tokens)

    def to_json(self) -> dict[str, Any]:
        raise NotImplementedError("it is given its tokens, and never learned or saved")

    def restore(self, content: dict[str, Any]) -> None:
        raise NotImplementedError("it is given its tokens, and never learned or saved")
