"""A text that is written token by token: what of it is certain already, and where it ends.

It ends before the first stop string in it, or with its budget. "First" is the one that is complete first: so the text
does not depend on where its tokens begin and end.
"""

from collections.abc import Sequence
from typing import final

from onechange.stream_decoding import StreamDecoder
from onechange.tokenizer import Tokenizer

MOST_BYTES = 4
"""UTF-8 has no longer characters, so more tokens than this for one would be tokens without text."""


@final
class GrowingText:
    """``tokens`` or ``characters`` is the budget, the other is ``None``; the characters are cut to exactly that many."""

    def __init__(
        self, tokenizer: Tokenizer, stop: Sequence[str], tokens: int | None, characters: int | None
    ) -> None:
        assert (tokens is None) != (characters is None), "a budget is one of the two"
        assert all(stop), "a text that holds nothing is no sign"
        self._decoder = StreamDecoder(tokenizer)
        self._stop = tuple(stop)
        self._most_tokens = tokens if characters is None else MOST_BYTES * characters
        self._left = characters
        self._held = ""
        self._parts: list[str] = []
        self.tokens = 0
        """How many it was made of, those included that a stop string or the cut took away."""
        self.stopped = False
        """Whether a stop string ended it."""
        self.complete = False
        """Whether it has ended."""

    @property
    def text(self) -> str:
        """What is certain so far; the whole text once it is complete."""
        return "".join(self._parts)

    def append(self, token: int) -> str:
        """The characters that are certain now and were not before ``token``.

        Half a character waits for its other half, and what may be the beginning of a stop string for its end. Half a
        character at the end of the budget is left out.
        """
        assert not self.complete
        self.tokens += 1
        new = self._decoder.feed([token])
        if self._left is not None:
            new = new[: self._left]
            self._left -= len(new)
        text = self._held + new
        ends = [(at + len(sign), at) for sign in self._stop if (at := text.find(sign)) >= 0]
        if ends:
            certain, self.stopped = text[: min(ends)[1]], True
        elif self._left == 0 or self.tokens == self._most_tokens:
            certain = text
        else:
            certain = text[: len(text) - self._begun(text)]
        self.complete = self.stopped or self._left == 0 or self.tokens == self._most_tokens
        self._held = "" if self.complete else text[len(certain) :]
        if certain:
            self._parts.append(certain)
        return certain

    def _begun(self, text: str) -> int:
        """How many characters at the end of ``text`` may begin a stop string."""
        longest = max(map(len, self._stop), default=1) - 1
        return next(
            (
                length
                for length in range(min(longest, len(text)), 0, -1)
                if any(sign.startswith(text[-length:]) for sign in self._stop)
            ),
            0,
        )
