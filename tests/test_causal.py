"""Causal attention in blocks: softmax(q kᵀ / sqrt(d)) v, future masked, to what bf16 holds, and its gradients."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from onechange import causal
from onechange.causal import attend

TIMES = (1, 5, 127, 128, 129, 300, 512, 777)
"""One block, whole blocks, and a last one that is not full."""


def inputs(time: int, rows: int = 3, head: int = 16) -> Any:
    """Queries, keys and values, as a list."""
    generator = torch.Generator().manual_seed(time)
    return [torch.randn(rows, time, head, generator=generator).bfloat16().requires_grad_() for _ in range(3)]


def defined(
    query: Tensor, key: Tensor, value: Tensor, bias: Tensor | None = None, reach: int | None = None
) -> Tensor:
    """The definition, in float64."""
    scores = query @ key.transpose(1, 2) / math.sqrt(query.shape[2])
    if bias is not None:
        scores = scores + bias.repeat(len(scores) // len(bias), 1, 1)
    hidden = torch.ones(scores.shape[1:], dtype=torch.bool).triu(1)
    if reach is not None:
        hidden |= torch.ones(scores.shape[1:], dtype=torch.bool).tril(-reach)
    return scores.masked_fill(hidden, -math.inf).softmax(-1) @ value


def distance(ours: Tensor, true: Tensor) -> float:
    return float((ours.double() - true).detach().norm() / true.detach().norm())


@pytest.mark.parametrize("bytes_kept", [causal.MOST_BYTES_KEPT, 0], ids=["kept", "computed again"])
@pytest.mark.parametrize("time", TIMES)
def test_it_is_attention_and_so_are_its_gradients(
    time: int, bytes_kept: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(causal, "MOST_BYTES_KEPT", bytes_kept)
    ours = inputs(time)
    exact = [part.detach().double().requires_grad_() for part in ours]
    slope = torch.randn(ours[0].shape, generator=torch.Generator().manual_seed(0)).bfloat16()
    mixed, true = attend(*ours), defined(*exact)
    rounding = 2**-8  # of bf16, relative; a few of them add up
    assert distance(mixed, true) < 1.5 * rounding
    if time == 1:
        assert torch.equal(mixed, ours[2]), "a single token sees itself only"
        return
    for mine, theirs in zip(
        torch.autograd.grad(mixed, ours, slope), torch.autograd.grad(true, exact, slope.double()), strict=True
    ):
        assert distance(mine, theirs) < 2 * rounding


@pytest.mark.parametrize("bytes_kept", [causal.MOST_BYTES_KEPT, 0], ids=["kept", "computed again"])
@pytest.mark.parametrize("reach", [None, 1, 40, 200, 5000])
@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize("time", [5, 129, 512, 777])
def test_a_bias_and_a_reach_act_and_the_bias_gets_its_gradient(
    time: int, biased: bool, reach: int | None, bytes_kept: int, monkeypatch: pytest.MonkeyPatch
):
    """Six rows are two texts of three heads: each head has a bias of its own, added to both texts."""
    monkeypatch.setattr(causal, "MOST_BYTES_KEPT", bytes_kept)
    ours = inputs(time, rows=6)
    exact = [part.detach().double().requires_grad_() for part in ours]
    if biased:
        ours.append(torch.randn(3, time, time, generator=torch.Generator().manual_seed(1)).requires_grad_())
        exact.append(ours[3].detach().double().requires_grad_())
    slope = torch.randn(ours[0].shape, generator=torch.Generator().manual_seed(0)).bfloat16()
    bias, exact_bias = (parts[3] if biased else None for parts in (ours, exact))
    mixed, true = attend(*ours[:3], bias=bias, reach=reach), defined(*exact[:3], bias=exact_bias, reach=reach)
    rounding = 2**-8
    assert distance(mixed, true) < 1.5 * rounding
    mine = torch.autograd.grad(mixed, ours, slope)
    theirs = torch.autograd.grad(true, exact, slope.double())
    if reach == 1:
        assert torch.equal(mixed, ours[2]), "a token that sees itself only"
        assert all(part.norm() < 8 * rounding * mine[2].norm() for part in (*mine[:2], *mine[3:])), "rounding"
        mine, theirs = mine[2:3], theirs[2:3]
    for one, two in zip(mine, theirs, strict=True):
        assert distance(one, two) < 2 * rounding


def test_a_bias_that_learns_nothing_is_given_no_gradient():
    ours = inputs(130)
    mixed = attend(*ours, bias=torch.zeros(3, 130, 130))
    mixed.float().sum().backward()
    assert torch.equal(mixed, attend(*ours))


@pytest.mark.parametrize("changed", [100, 128, 299])
def test_the_future_is_not_seen(changed: int):
    query, key, value = inputs(300)
    before = attend(query, key, value)
    with torch.no_grad():
        for part in (query, key, value):
            part[:, changed] += 1
    after = attend(query, key, value)
    assert torch.equal(before[:, :changed], after[:, :changed])
    assert not torch.equal(before[:, changed], after[:, changed])


def test_large_scores_do_not_overflow():
    query, key, value = inputs(200)
    mixed = attend(query * 1e4, key * 1e4, value)
    slopes = torch.autograd.grad(mixed.float().sum(), (query, key, value))
    assert mixed.isfinite().all() and all(slope.isfinite().all() for slope in slopes)


def test_most_of_the_masked_half_is_not_computed():
    def share(time: int) -> float:
        return sum(block.scores for block in causal._blocks(time, None)) / time**2

    assert share(512) == share(4096) == 0.625, "four blocks: 10 of 16 squares"
    assert share(128) == 1 and share(256) == 0.75, "smaller blocks would cost more than they save"
    for time in TIMES:
        blocks = causal._blocks(time, None)
        covered = [place for block in blocks for place in range(block.first, block.last)]
        assert covered == list(range(time)) and len(blocks) <= causal.MOST_BLOCKS


def test_what_lies_beyond_the_reach_is_not_computed():
    computed = sum(block.scores for block in causal._blocks(1024, 64))
    assert computed == 4 * 256 * (256 + 63) - 256 * 63, "the first block has nothing before it"
