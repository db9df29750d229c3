"""Attention by its definition: one head, one query at a time, in float64."""

from typing import TypeVar

import numpy as np
import torch
from torch import nn

Member = TypeVar("Member", bound=nn.Module)


def filled(member: Member) -> tuple[Member, dict[str, np.ndarray]]:
    """``member`` with weights drawn at random, and these as arrays."""
    random = np.random.default_rng(0)
    for parameter in member.parameters():
        parameter.data = torch.from_numpy(random.standard_normal(parameter.shape)).float()
    return member, {key: value.detach().double().numpy() for key, value in member.named_parameters()}


def plain_weights(
    weights: dict[str, np.ndarray],
    x: np.ndarray,
    heads: int,
    *,
    bias: np.ndarray | None = None,
    reach: int | None = None,
) -> np.ndarray:
    """How much every query takes of every key: text, head, query, key."""
    found = np.zeros((len(x), heads, x.shape[1], x.shape[1]))
    for row in range(len(x)):
        for head in range(heads):
            query, key = (_part(weights, name, x[row], head, heads) for name in ("query", "key"))
            for t in range(x.shape[1]):
                first = 0 if reach is None else max(0, t + 1 - reach)
                scores = key[first : t + 1] @ query[t] / np.sqrt(query.shape[1])
                if bias is not None:
                    scores = scores + bias[head, t, first : t + 1]
                weight = np.exp(scores - scores.max())
                found[row, head, t, first : t + 1] = weight / weight.sum()
    return found


def plain(
    weights: dict[str, np.ndarray],
    x: np.ndarray,
    heads: int,
    *,
    bias: np.ndarray | None = None,
    reach: int | None = None,
) -> np.ndarray:
    """What attention adds to the residual stream: text, time, width."""
    attended = plain_weights(weights, x, heads, bias=bias, reach=reach)
    width = x.shape[2] // heads
    mixed = np.zeros_like(x)
    for row in range(len(x)):
        for head in range(heads):
            value = _part(weights, "value", x[row], head, heads)
            mine = mixed[row, :, head * width : (head + 1) * width] = attended[row, head] @ value
            if "gate.weight" in weights:
                gates = 1 / (1 + np.exp(-x[row] @ weights["gate.weight"].T))
                per_head = gates.shape[1] // heads
                mixed[row, :, head * width : (head + 1) * width] = (
                    mine * gates[:, head * per_head : (head + 1) * per_head]
                )
    return mixed @ weights["out.weight"].T


def _part(weights: dict[str, np.ndarray], name: str, x: np.ndarray, head: int, heads: int) -> np.ndarray:
    """A head's own queries, keys or values; fewer keys than queries are shared by neighbours."""
    width = x.shape[1] // heads
    kept = len(weights[f"{name}.weight"]) // width
    mine = head * kept // heads
    part = x @ weights[f"{name}.weight"][mine * width : (mine + 1) * width].T
    if f"{name}_gain" in weights:
        part = part / np.sqrt((part**2).mean(-1, keepdims=True) + 1e-6) * weights[f"{name}_gain"]
    return part
