"""Causal attention in bf16 on a processor, several times faster than the kernel that torch has for it.

Rows of queries are taken in blocks, so that most of the masked half is never computed. Within a block everything is a
plain product of matrices, which the processor does at full speed, and element-wise work, which the compiler fuses.
The exponentials stay unnormalised until after the product with the values, and are kept for the backward pass where
they are small enough. Sums, maxima and exponentials are float32; what passes between products is rounded to bf16.
Milakov and Gimelshein 2018, https://arxiv.org/abs/1805.02867; Dao et al. 2022, https://arxiv.org/abs/2205.14135
"""

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

MOST_BLOCKS = 4
SMALLEST_BLOCK = 128
MOST_BYTES_KEPT = 128 * 2**20
"""Of one layer's exponentials; more is computed again in the backward pass."""


def attend(
    query: Float[Tensor, "rows time head"],
    key: Float[Tensor, "rows time head"],
    value: Float[Tensor, "rows time head"],
    bias: Float[Tensor, "heads time time"] | None = None,
    reach: int | None = None,
) -> Float[Tensor, "rows time head"]:
    """softmax(q kᵀ / sqrt(head) + bias) v with the future masked; a row is one head of one text, heads run fastest.

    ``reach``: how many keys a query sees at most, itself included.
    """
    return _Attend.apply(query, key, value, bias, reach)


@dataclass(frozen=True)
class _Block:
    """Queries from ``first`` up to ``last`` (exclusive), who see no key before ``start`` and none from ``last`` on."""

    first: int
    last: int
    start: int

    @property
    def queries(self) -> slice:
        return slice(self.first, self.last)

    @property
    def keys(self) -> slice:
        return slice(self.start, self.last)

    @property
    def scores(self) -> int:
        return (self.last - self.first) * (self.last - self.start)


class _Attend(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, query: Tensor, key: Tensor, value: Tensor, bias: Tensor | None, reach: int | None
    ) -> Tensor:
        rows, time, _ = query.shape
        blocks = _blocks(time, reach)
        kept = 2 * rows * sum(block.scores for block in blocks) <= MOST_BYTES_KEPT
        mixed, totals, exponentials = [], [], []
        for block in blocks:
            scores = _scores(query, key, bias, reach, block)
            highest = scores.amax(-1, keepdim=True)
            exponential = torch.exp(scores - highest)
            total = exponential.sum(-1, keepdim=True)
            exponential = exponential.to(value.dtype)
            mixed.append((torch.bmm(exponential, value[:, block.keys]).float() / total).to(value.dtype))
            totals += (highest, total)
            exponentials += (exponential,) if kept else ()
        out = torch.cat(mixed, 1)
        ctx.reach = reach
        ctx.biased = bias is not None
        ctx.save_for_backward(
            query, key, value, out, *([] if bias is None else [bias]), *totals, *exponentials
        )
        return out

    @staticmethod
    def backward(  # type: ignore[override]  # one output
        ctx: Any, slope: Tensor
    ) -> tuple[Tensor, Tensor, Tensor, Tensor | None, None]:
        query, key, value, out, *rest = ctx.saved_tensors
        bias, rest = (rest[0], rest[1:]) if ctx.biased else (None, rest)
        blocks = _blocks(query.shape[1], ctx.reach)
        totals, exponentials = rest[: 2 * len(blocks)], rest[2 * len(blocks) :]
        scale = 1 / math.sqrt(query.shape[2])
        mean = (slope.float() * out.float()).sum(-1, keepdim=True)
        queries, keys, values, biases = [], [], [], []
        for number, block in enumerate(blocks):
            highest, total = totals[2 * number : 2 * number + 2]
            exponential = (
                exponentials[number]
                if exponentials
                else torch.exp(_scores(query, key, bias, ctx.reach, block) - highest).to(value.dtype)
            )
            incoming = slope[:, block.queries]
            weights = torch.bmm(incoming, value[:, block.keys].transpose(1, 2))
            behind = exponential.float() * (weights.float() - mean[:, block.queries])
            if bias is not None and ctx.needs_input_grad[3]:
                biases.append((behind / total).unflatten(0, (-1, len(bias))).sum(0))
            scores = (behind * (scale / total)).to(query.dtype)
            queries.append(torch.bmm(scores, key[:, block.keys]))
            # Transposed products: the small matrix is the one that is read against its grain.
            keys.append(torch.bmm(query[:, block.queries].transpose(1, 2), scores))
            normalised = (incoming.float() / total).to(value.dtype)
            values.append(torch.bmm(normalised.transpose(1, 2), exponential))
        return (
            torch.cat(queries, 1),
            _summed(keys, blocks),
            _summed(values, blocks),
            _placed(biases, blocks) if biases else None,
            None,
        )


def _blocks(time: int, reach: int | None) -> list[_Block]:
    size = max(SMALLEST_BLOCK, -(-time // MOST_BLOCKS))
    return [
        _Block(first, min(first + size, time), 0 if reach is None else max(0, first + 1 - reach))
        for first in range(0, time, size)
    ]


def _scores(
    query: Tensor, key: Tensor, bias: Tensor | None, reach: int | None, block: _Block
) -> Float[Tensor, "rows block keys"]:
    places = torch.arange(query.shape[1], device=query.device)
    distance = places[block.queries, None] - places[None, block.keys]
    scores = torch.bmm(query[:, block.queries], key[:, block.keys].transpose(1, 2)).float()
    scores = scores / math.sqrt(query.shape[2])
    if bias is not None:
        here = bias[:, block.queries, block.keys].float()
        scores = (scores.unflatten(0, (-1, len(bias))) + here).flatten(0, 1)
    hidden = distance < 0
    if reach is not None:
        hidden = hidden | (distance >= reach)
    return scores.masked_fill(hidden, -math.inf)


def _summed(parts: list[Tensor], blocks: list[_Block]) -> Float[Tensor, "rows time head"]:
    """The parts' sum; part number n holds the columns of its block's keys."""
    columns = []
    edges = sorted({block.start for block in blocks} | {block.last for block in blocks})
    for first, last in pairwise(edges):
        held = [
            part[:, :, first - block.start : last - block.start].float()
            for part, block in zip(parts, blocks, strict=True)
            if block.start <= first and last <= block.last
        ]
        columns.append(torch.as_tensor(sum(held)).to(parts[0].dtype))
    return torch.cat(columns, 2).transpose(1, 2)


def _placed(parts: list[Tensor], blocks: list[_Block]) -> Float[Tensor, "heads time time"]:
    """The blocks' parts side by side, zero where nothing was computed."""
    time = blocks[-1].last
    rows = [
        torch.nn.functional.pad(part, (block.start, time - block.last))
        for part, block in zip(parts, blocks, strict=True)
    ]
    return torch.cat(rows, 1)
