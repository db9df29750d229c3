"""Ids that come one by one, as text: what is complete comes out at once, an unfinished character is held back."""

import codecs
from collections.abc import Iterable
from typing import final

from onechange.tokenizer import Tokenizer, joined


@final
class StreamDecoder:
    """What `feed` and, at the end, `finish` return is, put together, `Tokenizer.decode` of all ids."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokens = tokenizer.token_bytes()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def feed(self, ids: Iterable[int]) -> str:
        """The text that the next ``ids`` complete. A `ValueError` names an id that is none; then none is taken up."""
        return self._decoder.decode(joined(self._tokens, ids))

    def finish(self) -> str:
        """What was held back, as U+FFFD; a new text may follow."""
        rest = self._decoder.decode(b"", final=True)
        self._decoder.reset()
        return rest
