"""How wide an mlp is inside: as asked, or so that plain and gated ones have equally many parameters."""

from onechange.sizes import Sizes

PLAIN = 4
"""Hidden features of a plain mlp per feature of the model. A gated one has three matrices where a plain one has two."""
FAST = 8
"""In float32 a processor multiplies up to a quarter faster where a width is a multiple of it."""
EQUAL = 0.01
"""By what share of the parameters the two may differ for that."""


def plain(sizes: Sizes, hidden: int) -> int:
    """``hidden``, or for 0 four times the width; a `ValueError` if it is below 0."""
    return _given(hidden) or PLAIN * sizes.width


def gated(sizes: Sizes, hidden: int) -> int:
    """``hidden``, or for 0 two thirds of what a plain one has.

    That is the nearest multiple of 8 if the parameters are then equal within 1%, else the nearest whole number, with
    which they are for every width from 13 on.
    """
    even = PLAIN * sizes.width * 2 / 3
    fast = FAST * round(even / FAST)
    return _given(hidden) or (fast if abs(fast - even) <= EQUAL * even else round(even))


def _given(hidden: int) -> int:
    if hidden < 0:
        raise ValueError(
            f"mlp.hidden = {hidden}: must be at least 1, or 0 for a width that makes members equal"
        )
    return hidden
