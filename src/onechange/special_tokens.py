"""Special tokens: texts that are one token each, found before anything is cut or merged."""

import re
from collections.abc import Sequence

from onechange import utf8


class SpecialTokens:
    """Of two that begin at the same place the longer is taken. A `ValueError` names one that cannot be."""

    def __init__(self, texts: Sequence[str]) -> None:
        for text in texts:
            if len(utf8.encoded(text)) < 2:
                raise ValueError(f"special_tokens: {text!r}: must have at least two bytes")
            if texts.count(text) > 1:
                raise ValueError(f"special_tokens: {text!r} stands there more than once")
        self.texts = tuple(texts)
        self.longest = max(map(len, texts), default=0)
        """Characters of the longest."""
        longest_first = sorted(texts, key=len, reverse=True)
        self._pattern = re.compile(f"({'|'.join(map(re.escape, longest_first))})") if texts else None

    def parts(self, text: str) -> list[str]:
        """Text, special token, text, …, text: every second one is a special token."""
        return [text] if self._pattern is None else self._pattern.split(text)

    def last_end(self, text: str, limit: int) -> int:
        """Where the last one ends that begins before ``limit``; 0 if none does."""
        end = 0
        for match in self._pattern.finditer(text) if self._pattern is not None else ():
            if match.start() < limit:
                end = match.end()
        return end
