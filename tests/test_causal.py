"""Causal attention in blocks: softmax(q kᵀ / sqrt(d)) v, future masked, to what bf16 holds, and its gradients."""

import math

import pytest
import torch
from torch import Tensor

from onechange import causal
from onechange.causal import attend

TIMES = (1, 5, 127, 128, 129, 300, 512, 777)
"""One block, whole blocks, and a last one that is not full."""


def inputs(time: int, rows: int = 3, head: int = 16) -> list[Tensor]:
    generator = torch.Generator().manual_seed(time)
    return [torch.randn(rows, time, head, generator=generator).bfloat16().requires_grad_() for _ in range(3)]


def defined(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """The definition, in float64."""
    scores = query @ key.transpose(1, 2) / math.sqrt(query.shape[2])
    future = torch.ones(scores.shape[1:], dtype=torch.bool).triu(1)
    return scores.masked_fill(future, -math.inf).softmax(-1) @ value


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
        return sum((last - first) * last for first, last in causal._blocks(time)) / time**2

    assert share(512) == share(4096) == 0.625, "four blocks: 10 of 16 squares"
    assert share(128) == 1 and share(256) == 0.75, "smaller blocks would cost more than they save"
    for time in TIMES:
        blocks = causal._blocks(time)
        covered = [place for first, last in blocks for place in range(first, last)]
        assert covered == list(range(time)) and len(blocks) <= causal.MOST_BLOCKS
