"""Multi-head causal attention: every head compares its own queries and keys and mixes its own values.

softmax(q kᵀ / sqrt(d) + bias) v, future masked. Vaswani et al. 2017, https://arxiv.org/abs/1706.03762
"""

from typing import ClassVar, final

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from onechange.attention import Attention
from onechange.causal import attend
from onechange.position import Position
from onechange.sizes import Sizes


@final
class HeadsAttention(Attention):
    """4 · ``width``² parameters, no biases, no dropout on the attention weights.

    Dropout there would take torch's attention off its fast path on a processor, at twice the time of a whole step.
    """

    version: ClassVar[int] = 2

    def __init__(self, sizes: Sizes) -> None:
        super().__init__(sizes)
        self.query = nn.Linear(sizes.width, sizes.width, bias=False)
        self.key = nn.Linear(sizes.width, sizes.width, bias=False)
        self.value = nn.Linear(sizes.width, sizes.width, bias=False)
        self.out = nn.Linear(sizes.width, sizes.width, bias=False)

    def forward(
        self, x: Float[Tensor, "batch time width"], position: Position, positions: Int[Tensor, " time"]
    ) -> Float[Tensor, "batch time width"]:
        query, key, value = (self._split(layer(x)) for layer in (self.query, self.key, self.value))
        query, key = position.rotate(query, positions), position.rotate(key, positions)
        bias = position.bias(positions, positions)
        if bias is None and query.dtype == torch.bfloat16 and query.device.type == "cpu":
            rows = (part.reshape(-1, *part.shape[2:]) for part in (query, key, value))
            mixed = attend(*rows).view(query.shape)
        elif bias is None:
            mixed = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        else:
            future = positions[None, :] > positions[:, None]
            mask = bias.to(query.dtype).masked_fill(future, -torch.inf)
            mixed = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        return self.out(mixed.transpose(1, 2).flatten(2))

    def _split(self, x: Float[Tensor, "batch time width"]) -> Float[Tensor, "batch heads time head"]:
        return x.unflatten(2, (self.sizes.heads, self.sizes.head_width)).transpose(1, 2)
