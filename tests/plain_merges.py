"""Byte-pair encoding in its plainest form, everything counted anew for every merge: the truth for the quick one.

Tokens are texts or bytes; two tokens are compared as Python compares them.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TypeVar

Token = TypeVar("Token", str, bytes)


def symbols(piece: Token) -> list[Token]:
    """The characters of a text, or the single bytes of bytes."""
    return [piece[at : at + 1] for at in range(len(piece))]


def merged(tokens: list[Token], pair: tuple[Token, Token]) -> list[Token]:
    """``tokens`` with ``pair`` made one token wherever it stands, from left to right."""
    done: list[Token] = []
    at = 0
    while at < len(tokens):
        together = tuple(tokens[at : at + 2]) == pair
        done.append(pair[0] + pair[1] if together else tokens[at])
        at += 2 if together else 1
    return done


def pairs(pieces: Iterable[tuple[list[Token], int]]) -> Counter[tuple[Token, Token]]:
    """How often every two tokens stand side by side."""
    counts: Counter[tuple[Token, Token]] = Counter()
    for tokens, times in pieces:
        for at in range(len(tokens) - 1):
            counts[tokens[at], tokens[at + 1]] += times
    return counts


def merges(pieces: Mapping[Token, int], number: int) -> list[tuple[Token, Token]]:
    """At most ``number`` merges, learned from pieces that occur so often."""
    texts = [(symbols(piece), times) for piece, times in pieces.items()]
    found: list[tuple[Token, Token]] = []
    while len(found) < number and (counts := pairs(texts)):
        best = max(counts, key=lambda pair: (counts[pair], pair))
        found.append(best)
        texts = [(merged(tokens, best), times) for tokens, times in texts]
    return found


def encoded(piece: Token, pairs: Iterable[tuple[Token, Token]]) -> list[Token]:
    """The tokens of ``piece``, every merge done in order."""
    tokens = symbols(piece)
    for pair in pairs:
        tokens = merged(tokens, pair)
    return tokens
