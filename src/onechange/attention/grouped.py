"""Grouped-query causal attention: several heads share the same keys and values.

As multi-head attention with ``heads`` / ``groups`` heads of queries to each head of keys and values; one group is
multi-query attention. Ainslie et al. 2023, https://arxiv.org/abs/2305.13245; Shazeer 2019,
https://arxiv.org/abs/1911.02150. The other settings are those of `onechange.attention.heads`.
"""

from typing import final

from onechange.attention._projected import Gate, ProjectedAttention, QueryKeyNorm
from onechange.sizes import Sizes


@final
class GroupedAttention(ProjectedAttention):
    """2 · ``width``² · (1 + ``groups`` / ``heads``) parameters and those of a gate."""

    def __init__(
        self,
        sizes: Sizes,
        *,
        groups: int = 1,
        query_key_norm: QueryKeyNorm = "none",
        sliding: int = 0,
        gate: Gate = "none",
    ) -> None:
        if groups < 1 or sizes.heads % groups:
            raise ValueError(f"attention.groups = {groups}: must divide the number of heads, {sizes.heads}")
        super().__init__(sizes, groups, query_key_norm, sliding, gate)
