"""A linear warm-up, then half a cosine. Loshchilov and Hutter 2016, equation 5, without restarts."""

import math
from typing import Any

import pytest

from onechange.schedule.cosine import Cosine

turns = {"warmup": (10, 20), "final": (0.1, 0.5)}
text_length = 100


def test_values_at_chosen_steps():
    share = Cosine(warmup=100, final=0.1).share
    assert share(1, 2000) == 0.01
    assert share(50, 2000) == 0.5
    assert share(100, 2000) == 1
    assert share(1050, 2000) == pytest.approx(0.55)  # half of the way down
    assert share(100 + 1900 // 4, 2000) == pytest.approx(0.1 + 0.9 * (1 + math.sqrt(0.5)) / 2)
    assert share(100 + 1900 * 3 // 4, 2000) == pytest.approx(0.1 + 0.9 * (1 - math.sqrt(0.5)) / 2)
    assert share(2000, 2000) == pytest.approx(0.1)


def test_step_0_and_beyond_the_last():
    assert (Cosine(warmup=100).share(0, 2000), Cosine(warmup=0).share(0, 2000)) == (0, 1)
    assert Cosine(warmup=100, final=0.25).share(5000, 2000) == 0.25


def test_it_rises_and_then_falls():
    shares = [Cosine(warmup=10, final=0.0).share(step, 50) for step in range(1, 51)]
    assert shares[:10] == sorted(shares[:10])
    assert shares[9:] == sorted(shares[9:], reverse=True)
    assert shares[-1] == pytest.approx(0)


def test_without_warmup_the_first_step_is_the_largest():
    shares = [Cosine(warmup=0).share(step, 8) for step in range(1, 9)]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] > 0.95


def test_a_run_shorter_than_the_warmup_only_rises():
    assert [Cosine(warmup=10).share(step, 5) for step in range(1, 6)] == [0.1, 0.2, 0.3, 0.4, 0.5]


@pytest.mark.parametrize(("key", "value"), [("warmup", -1), ("final", 1.5), ("final", -0.1)])
def test_a_value_out_of_range_is_named(key: str, value: Any):
    with pytest.raises(ValueError, match=rf"schedule\.{key} = {value}: must be "):
        Cosine(**{key: value})
