"""What a layer remembers of the tokens that were read: their keys and values, so that no token is read twice.

Pope et al. 2022, section 3.1, https://arxiv.org/abs/2211.05102, on what it costs and saves. Rows are texts of unequal
length: each token is kept at its own position, and a query sees the positions up to its own, whatever lies beyond.
"""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from onechange.attending import mix

BLOCK = 32
"""Positions that lie together. Blocks come first, so that what is looked back at is one stretch of memory: with all
positions of a text together, every text and head would begin on memory pages of its own, and reading them for 64 short
texts in a window of 512 took half as long again."""


class Reading(NamedTuple):
    """What is read now and how far it looks back, for all layers alike."""

    positions: Int[Tensor, "rows time"]
    """Where the tokens stand, each row at positions of its own."""
    places: Int[Tensor, "seen block"]
    """0, 1, 2, …, in blocks: the positions that are looked back at, the furthest of any row among them."""
    block: Int[Tensor, "rows time"]
    within: Int[Tensor, "rows time"]
    row: Int[Tensor, "rows 1"]


def reading(positions: Int[Tensor, "rows time"], places: Int[Tensor, "seen block"]) -> Reading:
    """Worked out once for all layers."""
    row = torch.arange(len(positions), device=positions.device)[:, None]
    return Reading(positions, places, positions // BLOCK, positions % BLOCK, row)


class KeyValueCache(NamedTuple):
    """One layer's. It is written in place: whoever reads more tokens finds those of before."""

    keys: Float[Tensor, "blocks rows some head block"]
    values: Float[Tensor, "blocks rows some block head"]
    now: Reading

    def attend(
        self,
        query: Float[Tensor, "rows heads time head"],
        key: Float[Tensor, "rows some time head"],
        value: Float[Tensor, "rows some time head"],
        bias: Float[Tensor, "rows heads time places"] | None = None,
        reach: int | None = None,
    ) -> Float[Tensor, "rows heads time head"]:
        """Keep the keys and values of the tokens read now, and mix what each may look back at.

        softmax(q kᵀ / sqrt(head) + bias) v over itself and what stands before it, ``reach`` of them at most. There may
        be several heads of queries to one of keys and values, neighbours sharing one.
        """
        self._keep(key, value)
        query = query.unflatten(1, (key.shape[1], -1))  # rows some shared time head
        if bias is not None:
            bias = bias.unflatten(1, query.shape[1:3])
        mixed = (self._one if query.shape[-2] == 1 else self._many)(query, self._seen(reach), bias)
        return mixed.flatten(1, 2)

    def _keep(self, key: Float[Tensor, "rows some time head"], value: Tensor) -> None:
        now = self.now
        self.keys[now.block, now.row, :, :, now.within] = key.transpose(1, 2).to(self.keys.dtype)
        self.values[now.block, now.row, :, now.within] = value.transpose(1, 2).to(self.values.dtype)

    def _seen(self, reach: int | None) -> Bool[Tensor, "rows 1 1 time places"]:
        distance = self.now.positions[:, None, None, :, None] - self.now.places.flatten()
        return distance >= 0 if reach is None else (distance >= 0) & (distance < reach)

    def _many(
        self, query: Float[Tensor, "rows some shared time head"], seen: Tensor, bias: Tensor | None
    ) -> Float[Tensor, "rows some shared time head"]:
        seen_blocks = len(self.now.places)
        laid_out = (self.keys[:seen_blocks].transpose(-1, -2), self.values[:seen_blocks])
        kept = (held.movedim(0, 2).flatten(2, 3) for held in laid_out)
        shared = (-1, -1, query.shape[2], -1, -1)
        keys, values = (held.to(query.dtype).unsqueeze(2).expand(shared) for held in kept)
        return mix(query, keys, values, seen, bias)

    def _one(
        self, query: Float[Tensor, "rows some shared 1 head"], seen: Tensor, bias: Tensor | None
    ) -> Float[Tensor, "rows some shared 1 head"]:
        """Block by block as they lie, so that nothing is copied. Compiled, both products are one pass over what is
        kept; to multiply matrices of one row takes several times as long."""
        fused = torch.compiler.is_compiling()
        keys, values = (held[: len(self.now.places)].to(query.dtype) for held in (self.keys, self.values))
        query = query.squeeze(-2)  # rows some shared head
        scores = (
            (keys.unsqueeze(3) * query.unsqueeze(-1)).sum(-2) if fused else query @ keys
        )  # seen rows some shared block
        scores = scores.movedim(0, -2).flatten(-2) / query.shape[-1] ** 0.5
        scores = scores if bias is None else scores + bias.squeeze(-2)
        scores = scores.masked_fill(~seen.squeeze(-2), -torch.inf)
        if not fused:
            shares = scores.softmax(-1).unflatten(-1, self.now.places.shape).movedim(-2, 0)
            return (shares @ values).sum(0).unsqueeze(-2)
        # softmax, but divided at the end: the compiler would divide anew for every number of a value.
        shares = (scores - scores.amax(-1, keepdim=True)).exp()
        whole = shares.sum(-1)
        shares = shares.unflatten(-1, self.now.places.shape).movedim(-2, 0)
        mixed = (shares.unsqueeze(-1) * values.unsqueeze(3)).sum(-2).sum(0)
        return (mixed / whole.unsqueeze(-1)).unsqueeze(-2)


def room(
    rows: int, some: int, length: int, head: int, dtype: torch.dtype
) -> tuple[Float[Tensor, "blocks rows some head block"], Float[Tensor, "blocks rows some block head"]]:
    """For the keys and values of so many heads of so many texts of at most ``length`` tokens.

    Zeros: a place that is not seen yet but holds something infinite would still spoil a sum.
    """
    before = (-(-length // BLOCK), rows, some)
    return torch.zeros(*before, head, BLOCK, dtype=dtype), torch.zeros(*before, BLOCK, head, dtype=dtype)
