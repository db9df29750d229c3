"""Dropout: the hash against a plain one in numpy, and that its masks are as good as drawn."""

import numpy as np
import pytest
import torch
from scipy import stats

from onechange.dropout import drop, keys

SIZE = (37, 31, 29)
"""No multiple of any vector's length."""


def hashed(count: int, key: torch.Tensor) -> np.ndarray:
    """The 32 bits of every place, in numpy's unsigned numbers, whose products keep their lowest bits by definition."""
    first, second = (np.uint32(number) for number in key.tolist())
    bits = np.arange(count, dtype=np.uint32) * (first | np.uint32(1)) + second
    for shift, factor in ((16, 0x21F0AAAD), (15, 0x735A2D97)):
        bits = (bits ^ (bits >> np.uint32(shift))) * np.uint32(factor)
    return bits ^ (bits >> np.uint32(15))


def kept(share: float, key: torch.Tensor, size: tuple[int, ...] = SIZE) -> np.ndarray:
    return drop(torch.ones(size), share, key).numpy() != 0


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
@pytest.mark.usefixtures("unchecked")
def test_what_is_kept_is_what_the_hash_says(share: float, compiled: bool):
    key = keys(1)[0]
    dropped = torch.compile(drop, dynamic=False) if compiled else drop
    x = torch.randn(SIZE)
    signed = hashed(x.numel(), key).view(np.int32).reshape(SIZE)
    expected = np.where(signed >= round(share * 2**32) - 2**31, x.numpy() / (1 - share), 0)
    assert np.allclose(dropped(x, share, key).numpy(), expected, rtol=1e-6)


@pytest.mark.parametrize("share", [0.02, 0.1, 0.5])
def test_the_share_is_dropped_and_the_mean_stays(share: float):
    torch.manual_seed(1)
    for key in keys(8):
        mask = kept(share, key, (100_000,))
        assert stats.binomtest(int((~mask).sum()), mask.size, share).pvalue > 1e-4
    mean = float(drop(torch.ones(1_000_000), share, keys(1)[0]).mean())
    assert mean == pytest.approx(1, abs=5 * (share / (1 - share) / 1e6) ** 0.5)


def test_places_and_keys_are_independent_of_each_other():
    torch.manual_seed(2)
    masks = [kept(0.5, key, (1 << 16,)) for key in keys(12)]
    pairs = [(one, other) for n, one in enumerate(masks) for other in masks[n + 1 :]]
    pairs += [(mask, np.roll(mask, lag)) for mask in masks for lag in (1, 2, 3, 16, 64, 384, 512, 4096)]
    agreements = [int((one == other).sum()) for one, other in pairs]
    values = [stats.binomtest(found, 1 << 16, 0.5).pvalue for found in agreements]
    assert stats.kstest(values, "uniform").pvalue > 1e-3, "as often near a half as chance would have it"
    assert min(values) > 1e-3 / len(values)


def test_gradients_pass_where_numbers_do():
    x = torch.randn(1_000, requires_grad=True)
    key = keys(1)[0]
    drop(x, 0.25, key).sum().backward()
    assert x.grad is not None
    assert torch.equal(x.grad, drop(torch.ones(1_000), 0.25, key))
