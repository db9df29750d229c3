"""Which of the ways to attend is taken: the fastest that the device, the precision and the bias allow."""

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor

from onechange import causal


def attend(
    query: Float[Tensor, "*batch heads time head"],
    key: Float[Tensor, "*batch heads time head"],
    value: Float[Tensor, "*batch heads time head"],
    bias: Float[Tensor, "heads time time"] | None = None,
    reach: int | None = None,
) -> Float[Tensor, "*batch heads time head"]:
    """softmax(q kᵀ / sqrt(head) + bias) v; a query sees itself and what stands before it, ``reach`` keys at most."""
    if query.dtype == torch.bfloat16 and query.device.type == "cpu":
        rows = [part.reshape(-1, *part.shape[-2:]) for part in (query, key, value)]
        return causal.attend(rows[0], rows[1], rows[2], bias, reach).view(query.shape)
    if bias is None and reach is None:
        return F.scaled_dot_product_attention(query, key, value, is_causal=True)
    seen = visible(query.shape[-2], reach, query.device)
    return mix(query, key, value, seen, bias)


def mix(
    query: Float[Tensor, "*batch query head"],
    key: Float[Tensor, "*batch key head"],
    value: Float[Tensor, "*batch key feature"],
    seen: Bool[Tensor, "*#batch query key"] | None = None,
    bias: Float[Tensor, "*#batch query key"] | None = None,
) -> Float[Tensor, "*batch query feature"]:
    """softmax(q kᵀ / sqrt(head) + bias) v over any leading dimensions, of as many queries and keys as there are.

    ``seen`` says which keys each query takes from, ``None`` from all; one that sees none finds zeros.
    """
    mask = seen
    if bias is not None:
        mask = bias.to(query.dtype)
        mask = mask if seen is None else mask.masked_fill(~seen, -torch.inf)
    return F.scaled_dot_product_attention(query, key, value, attn_mask=mask)


def weights(
    query: Float[Tensor, "*batch heads time head"],
    key: Float[Tensor, "*batch heads time head"],
    bias: Float[Tensor, "heads time time"] | None = None,
    reach: int | None = None,
) -> Float[Tensor, "*batch heads time time"]:
    """softmax(q kᵀ / sqrt(head) + bias), which `attend` never holds as a whole; float32."""
    scores = query.float() @ key.float().transpose(-1, -2) / query.shape[-1] ** 0.5
    scores = scores if bias is None else scores + bias.float()
    return scores.masked_fill(~visible(query.shape[-2], reach, query.device), -torch.inf).softmax(-1)


def visible(time: int, reach: int | None, device: torch.device) -> Bool[Tensor, "time time"]:
    """Which keys (columns) each query (row) sees."""
    places = torch.arange(time, device=device)
    distance = places[:, None] - places[None, :]
    seen = distance >= 0
    return seen if reach is None else seen & (distance < reach)
