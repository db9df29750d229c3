"""No positional encoding: order is known only through the causal mask.

Haviv et al. 2022, https://arxiv.org/abs/2203.16634, found that causal models learn positions without being told.
"""

from typing import final

from onechange.position import Position


@final
class NoPosition(Position):
    """All three methods do nothing."""
