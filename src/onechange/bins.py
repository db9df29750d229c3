"""Sums over tokens, sorted by a number whose upper bound is doubled from bin to bin: 1, 2, 3 to 4, 5 to 8, …"""

from typing import Any

import numpy as np
from jaxtyping import Float, Int

_EDGES = 2 ** np.arange(40)
"""Bin number b holds what lies above `_EDGES`[b − 1] and up to `_EDGES`[b]."""


class Bins:
    """Nats, characters and tokens."""

    def __init__(self) -> None:
        self._sums = np.zeros((len(_EDGES), 3))

    def add(
        self,
        numbers: Int[np.ndarray, " tokens"],
        nats: Float[np.ndarray, " tokens"],
        characters: Int[np.ndarray, " tokens"],
    ) -> None:
        """Tokens with their ``numbers``; 0, where no character in view has begun there, counts as 1."""
        bins = np.searchsorted(_EDGES, numbers)
        for column, values in enumerate((nats, characters, np.ones(len(nats)))):
            self._sums[:, column] += np.bincount(bins, values, len(_EDGES))

    def to_json(self) -> list[dict[str, Any]]:
        """The bins that hold a token; ``to`` is the first number beyond."""
        return [
            {
                "from": int(_EDGES[number - 1]) + 1 if number else 1,
                "to": int(_EDGES[number]) + 1,
                "nats": float(nats),
                "characters": int(characters),
                "tokens": int(tokens),
            }
            for number, (nats, characters, tokens) in enumerate(self._sums)
            if tokens
        ]
