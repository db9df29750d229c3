"""What `heads` and `grouped` share: projections, and what may be done to queries, keys and what the heads found."""

from typing import Literal

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from onechange import attending
from onechange.attention import Attention
from onechange.key_value_cache import KeyValueCache, room
from onechange.position import Position
from onechange.sizes import Sizes

Gate = Literal["none", "head", "feature"]
QueryKeyNorm = Literal["none", "rms"]


class ProjectedAttention(Attention):
    """Queries, keys and values are linear in the input; no biases, no dropout on the attention weights.

    Dropout there would take torch's attention off its fast path on a processor, at twice the time of a whole step.
    """

    def __init__(
        self, sizes: Sizes, key_value_heads: int, query_key_norm: QueryKeyNorm, sliding: int, gate: Gate
    ) -> None:
        super().__init__(sizes)
        if sliding < 0:
            raise ValueError(
                f"attention.sliding = {sliding}: must be at least 1 token, or 0 for the whole window"
            )
        self.reach = sliding or None
        width, narrow = sizes.width, key_value_heads * sizes.head_width
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(width, narrow, bias=False)
        self.value = nn.Linear(width, narrow, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.shared = sizes.heads // key_value_heads
        normed = query_key_norm == "rms"
        self.query_gain = nn.Parameter(torch.ones(sizes.head_width)) if normed else None
        self.key_gain = nn.Parameter(torch.ones(sizes.head_width)) if normed else None
        gates = {"none": 0, "head": sizes.heads, "feature": width}[gate]
        self.gate = nn.Linear(width, gates, bias=False) if gates else None

    def forward(
        self,
        x: Float[Tensor, "*batch time width"],
        position: Position,
        positions: Int[Tensor, "*#batch time"],
        bias: Float[Tensor, "*rows heads time keys"] | None = None,
        cache: KeyValueCache | None = None,
    ) -> Float[Tensor, "*batch time width"]:
        query, key = self._query_and_key(x, position, positions)
        value = self._split(self.value(x))
        if cache is None:
            mixed = attending.attend(query, self._shared(key), self._shared(value), bias, self.reach)
        else:
            mixed = cache.attend(query, key, value, bias, self.reach)
        mixed = mixed.transpose(-3, -2)
        if self.gate is not None:
            mixed = mixed * torch.sigmoid(self.gate(x)).unflatten(-1, (self.sizes.heads, -1))
        return self.out(mixed.flatten(-2))

    def weights(
        self,
        x: Float[Tensor, "*batch time width"],
        position: Position,
        positions: Int[Tensor, "*#batch time"],
        bias: Float[Tensor, "heads time time"] | None = None,
    ) -> Float[Tensor, "*batch heads query key"]:
        query, key = self._query_and_key(x, position, positions)
        return attending.weights(query, self._shared(key), bias, self.reach)

    def room(self, rows: int, length: int, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        return room(rows, self.sizes.heads // self.shared, length, self.sizes.head_width, dtype)

    def _query_and_key(
        self,
        x: Float[Tensor, "*batch time width"],
        position: Position,
        positions: Int[Tensor, "*#batch time"],
    ) -> tuple[Float[Tensor, "*batch heads time head"], Float[Tensor, "*batch some time head"]]:
        query, key = self._split(self.query(x)), self._split(self.key(x))
        if self.query_gain is not None and self.key_gain is not None:
            query, key = _normed(query, self.query_gain), _normed(key, self.key_gain)
        positions = positions.unsqueeze(-2)  # the same for all heads
        return position.rotate(query, positions), position.rotate(key, positions)

    def _split(self, x: Float[Tensor, "*batch time features"]) -> Float[Tensor, "*batch some time head"]:
        return x.unflatten(-1, (-1, self.sizes.head_width)).transpose(-3, -2)

    def _shared(self, x: Float[Tensor, "*batch some time head"]) -> Float[Tensor, "*batch heads time head"]:
        return x if self.shared == 1 else x.repeat_interleave(self.shared, -3)


def _normed(x: Float[Tensor, "*batch some time head"], gain: Float[Tensor, " head"]) -> Tensor:
    return F.rms_norm(x.float(), (x.shape[-1],), gain, eps=1e-6).to(x.dtype)
