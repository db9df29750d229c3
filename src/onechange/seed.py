"""Random streams, each with a name of its own, so that no draw ever shifts another.

A stream is keyed by the SHA-256 of ``seed/purpose/name``. It is drawn on the processor by numpy's counter-based
Philox generator, so that equal keys give equal numbers on every machine, and a longer draw begins with the shorter
one (which lets two tables with different numbers of rows agree in the rows they share).
"""

import hashlib
from typing import Literal

import numpy as np

Purpose = Literal["data", "weights", "dropout", "sample", "more samples", "corpus"]


def digest(seed: int, purpose: Purpose, name: str) -> bytes:
    """The 32 bytes that key the stream of this name."""
    return hashlib.sha256(f"{seed}/{purpose}/{name}".encode()).digest()


def stream(seed: int, purpose: Purpose, name: str) -> np.random.Generator:
    """A fresh generator for ``name``; two calls with the same arguments give the same numbers."""
    key = int.from_bytes(digest(seed, purpose, name)[:16], "little")
    return np.random.Generator(np.random.Philox(key=key))


def integer(seed: int, purpose: Purpose, name: str) -> int:
    """A seed in [0, 2**63) for generators that take a whole number, such as torch's."""
    return int.from_bytes(digest(seed, purpose, name)[:8], "little") >> 1
