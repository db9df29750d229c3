"""Warm-up, peak, decay. Hägele et al. 2024, section 3 and equation 1."""

import math
from typing import Any

import pytest

from onechange.schedule.warmup_stable_decay import WarmupStableDecay

turns: dict[str, Any] = {
    "warmup": (10, 20),
    "decay": (0.2, 0.5),
    "final": (0.0, 0.1),
    "shape": ("1-sqrt", "linear"),
}
text_length = 100


def test_values_at_chosen_steps():
    """1,000 steps, the last 200 of them down: three quarters of the way is step 950."""
    straight = WarmupStableDecay(warmup=100, shape="linear").share
    root = WarmupStableDecay(warmup=100).share
    for share in (straight, root):
        assert [share(step, 1000) for step in (1, 50, 100, 101, 500, 800)] == [0.01, 0.5, 1, 1, 1, 1]
        assert share(1000, 1000) == pytest.approx(0)
    assert [straight(step, 1000) for step in (850, 900, 950)] == pytest.approx([0.75, 0.5, 0.25])
    assert [root(step, 1000) for step in (850, 900, 950)] == pytest.approx(
        [0.5, 1 - math.sqrt(0.5), 1 - math.sqrt(0.75)]
    )


@pytest.mark.parametrize("shape", ["linear", "1-sqrt"])
def test_it_rises_stays_and_falls_to_a_share_of_the_peak(shape: Any):
    schedule = WarmupStableDecay(warmup=8, decay=0.25, final=0.1, shape=shape)
    shares = [schedule.share(step, 40) for step in range(1, 41)]
    assert shares[:8] == sorted(shares[:8])
    assert shares[7:30] == [1.0] * 23
    assert shares[29:] == sorted(shares[29:], reverse=True) and len(set(shares[29:])) == 11
    assert shares[-1] == pytest.approx(0.1)


def test_two_lengths_are_alike_until_the_shorter_one_comes_down():
    """What it is for: the trunk of a longer run serves the shorter one."""
    schedule = WarmupStableDecay(warmup=10)
    for step in range(1, 81):
        assert schedule.share(step, 100) == schedule.share(step, 1000)


def test_a_decay_over_the_whole_run_begins_after_the_warm_up():
    schedule = WarmupStableDecay(warmup=10, decay=1.0, shape="linear")
    assert [schedule.share(step, 20) for step in (10, 15, 20)] == [1, 0.5, 0]


def test_without_decay_it_stays_at_the_peak():
    assert WarmupStableDecay(warmup=0, decay=0.0).share(50, 50) == 1


def test_a_run_shorter_than_the_warmup_only_rises():
    schedule = WarmupStableDecay(warmup=10)
    assert [schedule.share(step, 5) for step in range(1, 6)] == [0.1, 0.2, 0.3, 0.4, 0.5]


@pytest.mark.parametrize(("key", "value"), [("warmup", -1), ("decay", 1.5), ("final", -0.1)])
def test_a_value_out_of_range_is_named(key: str, value: Any):
    with pytest.raises(ValueError, match=rf"schedule\.{key} = {value}: must be "):
        WarmupStableDecay(**{key: value})
