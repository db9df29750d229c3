"""Which passages of stories stand word for word in a training text, separators included."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Int32

from onechange.stories.suffix_automaton import BREAK, SuffixAutomaton
from onechange.stories.unknown_words import code_points

Span = tuple[int, int]
_CODE_POINTS = 0x110000


class Copies:
    """Passages of ``texts`` that are sought in a text. Case and every blank count."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._lengths = [len(text) for text in texts]
        codes = [code_points(text) for text in texts]
        self._symbols = np.full(_CODE_POINTS, BREAK, dtype=np.int32)
        distinct = np.unique(np.concatenate([np.zeros(0, dtype=np.uint32), *codes]))
        self._symbols[distinct] = np.arange(BREAK + 1, BREAK + 1 + len(distinct), dtype=np.int32)
        end = np.full(1, BREAK, dtype=np.int32)
        parts = [part for text in codes for part in (self._symbols[text], end)]
        self._automaton = SuffixAutomaton(np.concatenate([end, *parts]))

    def read(self, text: str) -> None:
        """Read on in the text in which copies are sought, where the last call left off."""
        self._automaton.read(self._symbols[code_points(text)])

    def longest(self) -> list[Int32[np.ndarray, " characters"]]:
        """For each character of each of the texts, how long the longest copy is that ends with it."""
        found, at, parts = self._automaton.longest(), 1, []
        for length in self._lengths:
            parts.append(found[at : at + length])
            at += length + 1
        return parts


def passages(longest: Int32[np.ndarray, " characters"], least: int) -> list[Span]:
    """Where the copies of ``least`` characters or more begin and end, those within a longer one left out."""
    following = np.append(longest[1:], 0)
    ends = np.flatnonzero((longest >= least) & (following <= longest))
    return [(int(end) + 1 - int(longest[end]), int(end) + 1) for end in ends]


def joined(spans: Sequence[Span]) -> list[Span]:
    """``spans``, in the order of their starts, with those that touch or overlap made one."""
    found: list[Span] = []
    for start, end in spans:
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((start, end))
    return found
