"""Which text a batch is made of: a pure function of seed, step and row, as places in *characters*.

Every arm, whatever its tokenizer, starts a row at the same place of the training text: at its first token
boundary there. The text is read as a ring, so every place is equally likely for every window length.
"""

import numpy as np
from jaxtyping import Int

from onechange.encoding import Encoding, release
from onechange.seed import stream


def places(seed: int, step: int, rows: int, characters: int) -> Int[np.ndarray, " rows"]:
    """Where the rows of batch number ``step`` start, in characters, each in [0, ``characters``).

    The first rows do not depend on how many there are.
    """
    return (stream(seed, "data", f"step-{step}").random(rows) * characters).astype(np.int64)


class Windows:
    """The training text of one arm, cut into batches."""

    def __init__(self, text: Encoding, seed: int, rows: int, window: int) -> None:
        if not len(text.ids):
            raise ValueError("the training text is empty: a corpus needs at least one training story")
        self._text = text
        self._seed, self._rows, self._window = seed, rows, window

    def first_tokens(self, step: int) -> Int[np.ndarray, " rows"]:
        """The token with which each row of batch ``step`` starts."""
        starts = places(self._seed, step, self._rows, self._text.characters)
        first = [self._text.first_token(place) for place in starts.tolist()]
        return np.array(first, dtype=np.int64) % len(self._text.ids)

    def batch(self, step: int) -> tuple[Int[np.ndarray, "rows window"], Int[np.ndarray, "rows window"], int]:
        """Tokens, their targets (each the token after), and how many characters begin in the targets."""
        at = (self.first_tokens(step)[:, None] + np.arange(self._window + 1)) % len(self._text.ids)
        ids = self._text.ids[at].astype(np.int64)
        release(self._text.ids)
        return ids[:, :-1], ids[:, 1:], int(self._text.tokens.characters[ids[:, 1:]].sum())
