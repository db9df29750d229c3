"""Multi-head causal attention: every head compares its own queries and keys and mixes its own values.

softmax(q kᵀ / sqrt(d) + bias) v, future masked. Vaswani et al. 2017, https://arxiv.org/abs/1706.03762. Settings:
``query_key_norm`` "rms" divides queries and keys by their root mean square and scales them by learned gains (Henry
et al. 2020, https://arxiv.org/abs/2010.04245); ``sliding`` lets a query see so many tokens and no more (Beltagy et
al. 2020, https://arxiv.org/abs/2004.05150); ``gate`` multiplies what each "head" or "feature" found by a sigmoid of
the input (Qiu et al. 2025, https://arxiv.org/abs/2505.06708).
"""

from typing import ClassVar, final

from onechange.attention._projected import Gate, ProjectedAttention, QueryKeyNorm
from onechange.sizes import Sizes


@final
class HeadsAttention(ProjectedAttention):
    """4 · ``width``² parameters; a gate per feature has ``width``² more, one per head ``width`` · ``heads``."""

    version: ClassVar[int] = 3

    def __init__(
        self, sizes: Sizes, *, query_key_norm: QueryKeyNorm = "none", sliding: int = 0, gate: Gate = "none"
    ) -> None:
        super().__init__(sizes, sizes.heads, query_key_norm, sliding, gate)
