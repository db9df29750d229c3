"""A text that is written token by token: what of it is certain already, and where it ends.

It ends before the first stop string in it, or with its budget. "First" is the one that is complete first: so the text
does not depend on where its tokens begin and end.
"""

from typing import final

from onechange.sampling import Sampling
from onechange.stream_decoding import StreamDecoder
from onechange.tokenizer import Tokenizer

MOST_BYTES = 4
"""UTF-8 has no longer characters, so more tokens than this for one would be tokens without text."""


@final
class GrowingText:
    """Budget and stop strings are the sampling's; a budget in characters is kept to the character."""

    def __init__(self, tokenizer: Tokenizer, sampling: Sampling) -> None:
        self._decoder = StreamDecoder(tokenizer)
        self._stop = sampling.stop
        self._left = sampling.characters
        self._most_tokens = sampling.tokens or MOST_BYTES * (sampling.characters or 0)
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
        self.stopped = bool(ends)
        self.complete = self.stopped or self._left == 0 or self.tokens == self._most_tokens
        if self.stopped:
            text = text[: min(ends)[1]]
        held = 0 if self.complete else self._may_begin(text)
        certain, self._held = text[: len(text) - held], text[len(text) - held :]
        self._parts.append(certain)
        return certain

    def _may_begin(self, text: str) -> int:
        """How many characters at the end of ``text`` may be the beginning of a stop string."""
        longest = max(map(len, self._stop), default=1) - 1
        return next(
            (
                length
                for length in range(min(longest, len(text)), 0, -1)
                if any(sign.startswith(text[-length:]) for sign in self._stop)
            ),
            0,
        )
