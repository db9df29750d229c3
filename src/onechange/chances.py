"""What a model thought of a token and of those that it beat, in the figures that the page shows."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float


def logarithms(scores: Float[np.ndarray, " vocabulary"]) -> Float[np.ndarray, " vocabulary"]:
    """The logarithm of every token's probability at temperature 1, float64."""
    wide = scores.astype(np.float64)
    wide -= wide.max()
    return wide - np.log(np.exp(wide).sum())


def rank(scores: Float[np.ndarray, " vocabulary"], token: int) -> int:
    """The place of ``token`` among all, 1 for the likeliest; of equal ones the lower id comes first."""
    own = scores[token]
    return 1 + int(np.count_nonzero(scores > own)) + int(np.count_nonzero(scores[:token] == own))


def likeliest(scores: Float[np.ndarray, " vocabulary"], number: int) -> list[int]:
    """The ids of the greatest scores, from the greatest down; of equal ones the lower id first."""
    number = min(number, len(scores))
    least = np.partition(scores, -number)[-number]
    among = np.flatnonzero(scores >= least)
    return among[np.argsort(-scores[among], kind="stable")][:number].tolist()


def told(
    scores: Float[np.ndarray, " vocabulary"], token: int, tokens: Sequence[str], number: int
) -> dict[str, Any]:
    """A token's probability and rank, and the ``number`` likeliest, it among them or not; ``tokens``: their texts."""
    logs = logarithms(scores)
    return {
        "id": token,
        "token": tokens[token],
        "p": float(np.exp(logs[token])),
        "nats": float(-logs[token]),
        "rank": rank(scores, token),
        "alternatives": [
            {"id": other, "token": tokens[other], "p": float(np.exp(logs[other]))}
            for other in likeliest(scores, number)
        ],
    }
