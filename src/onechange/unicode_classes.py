"""Whether a character is a letter, a digit, another number or white space, by Unicode 16.0.

The table `unicode_classes.txt` is kept here so that text is cut alike under every Python and every version of a
regular-expression library. It was read off the general categories (L, Nd, Nl with No) and the property White_Space
as tiktoken 0.14 knows them, one character after the other; what stands in no line is of none of these classes.
"""

from functools import cache
from importlib import resources

import numpy as np
from jaxtyping import UInt8

CODE_POINTS = 0x110000
OTHER, LETTER, DIGIT, NUMBER, SPACE = range(5)
_WORDS = {"letter": LETTER, "digit": DIGIT, "number": NUMBER, "space": SPACE}


@cache
def classes() -> UInt8[np.ndarray, " code_points"]:
    """The class of every code point; not to be written to."""
    found = np.zeros(CODE_POINTS, dtype=np.uint8)
    table = resources.files("onechange").joinpath("unicode_classes.txt").read_text(encoding="ascii")
    for line in table.splitlines():
        span, word = line.split()
        first, _, last = span.partition("..")
        found[int(first, 16) : int(last or first, 16) + 1] = _WORDS[word]
    found.flags.writeable = False
    return found
