"""A linear warm-up, then the peak."""

from typing import Any

import pytest
import torch

from onechange.schedule.constant import Constant

turns: dict[str, Any] = {"warmup": (10, 20)}
text_length = 100


def test_values_at_chosen_steps():
    share = Constant(warmup=100).share
    assert [share(step, 2000) for step in (1, 50, 100, 101, 1000, 2000)] == [0.01, 0.5, 1, 1, 1, 1]


def test_it_is_torch_s_linear_warm_up():
    parameter = torch.nn.Parameter(torch.zeros(1))
    optimizer = torch.optim.SGD([parameter], lr=1.0)
    theirs = torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=1 / 8, total_iters=7)
    for step in range(1, 20):
        assert Constant(warmup=8).share(step, 20) == pytest.approx(theirs.get_last_lr()[0])
        optimizer.step()
        theirs.step()


def test_without_warmup_every_step_is_the_peak():
    assert [Constant(warmup=0).share(step, 5) for step in range(1, 6)] == [1.0] * 5


def test_how_long_the_run_is_does_not_matter():
    assert [Constant(warmup=10).share(5, steps) for steps in (5, 10, 10_000)] == [0.5] * 3


def test_a_value_out_of_range_is_named():
    with pytest.raises(ValueError, match=r"schedule\.warmup = -1: must be at least 0 steps"):
        Constant(warmup=-1)
