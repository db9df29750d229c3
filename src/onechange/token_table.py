"""What text takes of each token of a vocabulary: how many characters begin in it, how many bytes it has.

UTF-8 tells a character's first byte from those that follow it (RFC 3629, section 3: these are 10xxxxxx), so the
characters that begin in a text's tokens add up to its characters, even where a token is part of a character.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Int


@dataclass(frozen=True, eq=False)
class TokenTable:
    """Three facts about every token, by its id."""

    characters: Int[np.ndarray, " vocabulary"]
    """How many characters begin in it."""
    bytes: Int[np.ndarray, " vocabulary"]
    """How many bytes of UTF-8 it stands for."""
    inside: Bool[np.ndarray, " vocabulary"]
    """Whether it begins inside a character."""


def token_table(tokens: Sequence[bytes]) -> TokenTable:
    """The table of a vocabulary; ``tokens``: `onechange.tokenizer.Tokenizer.token_bytes`."""
    begun = np.append(0, begins(b"".join(tokens)).cumsum(dtype=np.int64))
    lengths = np.array([len(token) for token in tokens], dtype=np.int64)
    ends = lengths.cumsum()
    starts = ends - lengths
    inside = (lengths > 0) & (begun[np.minimum(starts + 1, len(begun) - 1)] == begun[starts])
    return TokenTable(begun[ends] - begun[starts], lengths, inside)


def begins(content: bytes) -> Bool[np.ndarray, " bytes"]:
    """For every byte, whether it is a character's first."""
    return np.frombuffer(content, dtype=np.uint8) & 0xC0 != 0x80
