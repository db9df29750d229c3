"""Where in a text each of its tokens stands, in characters."""

import numpy as np

from onechange.token_table import token_table
from onechange.tokenizer import Tokenizer


def placed(tokenizer: Tokenizer, ids: np.ndarray) -> list[tuple[int, int]]:
    """The first character of each token and the one after its last.

    Tokens that share a character, each with some of its bytes, overlap in it.
    """
    table = token_table(tokenizer.token_bytes())
    ends = table.characters[ids].cumsum()
    starts = ends - table.characters[ids] - table.inside[ids]
    return [*zip(starts.tolist(), ends.tolist(), strict=True)]
