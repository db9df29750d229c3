"""KERPLE: the bias falls with the logarithm or a power of the distance, each head its own way. Chi et al. 2022."""

from typing import Any, Literal

import numpy as np
import pytest
import torch

from onechange.position.kerple import KerplePosition
from onechange.sizes import Sizes

turns: dict[str, Any] = {"kernel": ("logarithmic", "power")}
text_length = 16

SIZES = Sizes(layers=1, heads=4, width=8, window=16, vocabulary=5)
KERNELS: tuple[Literal["logarithmic", "power"], ...] = ("logarithmic", "power")


def second(position: KerplePosition) -> torch.nn.Parameter:
    found = position.exponent if position.rate is None else position.rate
    assert found is not None
    return found


def exact(position: KerplePosition, distance: np.ndarray) -> np.ndarray:
    """The paper's two kernels in float64."""
    first, inner = (p.detach().double().numpy()[:, None, None] for p in (position.strength, second(position)))
    if position.rate is not None:
        return -2 * np.log1p(np.exp(first)) * np.log(1 + np.log1p(np.exp(inner)) * distance)
    return -np.log1p(np.exp(first)) * distance ** (2 / (1 + np.exp(-inner)))


@pytest.mark.parametrize("kernel", KERNELS)
@torch.no_grad()
def test_the_bias_is_the_paper_s_formula(kernel: Literal["logarithmic", "power"]):
    position = KerplePosition(SIZES, kernel=kernel)
    position.strength.copy_(torch.tensor([-2.0, -0.5, 0.3, 3.0]))
    second(position).copy_(torch.tensor([1.0, -3.0, 0.0, 2.0]))
    queries, keys = torch.tensor([0, 5, 900, 8191]), torch.tensor([0, 3, 5, 899])
    found = position.bias(queries, keys)
    distance = np.maximum(queries.numpy()[:, None] - keys.numpy(), 0).astype(float)
    np.testing.assert_allclose(found.numpy(), exact(position, distance), rtol=2e-5)


@torch.no_grad()
def test_a_hand_computation():
    position = KerplePosition(Sizes(layers=1, heads=1, width=2, window=8, vocabulary=5))
    # at the start r1 = 1, the middle of 0 to 2, and r2 half the golden section of 0 to 1
    r2 = 0.5 * (5**0.5 - 1) / 2
    found = position.bias(torch.tensor([6]), torch.tensor([6, 4]))
    assert found.flatten().tolist() == pytest.approx([0, -np.log(1 + 2 * r2)], rel=1e-6)


@pytest.mark.parametrize(("kernel", "highest"), [("logarithmic", (2, 1)), ("power", (1, 2))])
def test_first_values_fill_the_ranges_that_the_paper_draws_from(
    kernel: Literal["logarithmic", "power"], highest: tuple[float, float]
):
    sizes = Sizes(layers=1, heads=64, width=128, window=16, vocabulary=5)
    position = KerplePosition(sizes, kernel=kernel)
    by_distance = position.by_distance().detach().double().numpy()
    if kernel == "logarithmic":  # solved from two distances that the formula was not written for
        ratio = by_distance[:, 8000] / by_distance[:, 1]
        r2 = np.array([_root(lambda r, q=q: np.log1p(8000 * r) - q * np.log1p(r)) for q in ratio])
        r1 = -by_distance[:, 1] / np.log1p(r2)
    else:
        r1, r2 = -by_distance[:, 1], np.log2(by_distance[:, 2] / by_distance[:, 1])
    for found, most in zip((r1, r2), highest, strict=True):
        assert 0 < found.min() < 0.05 * most and 0.95 * most < found.max() < most
        np.testing.assert_allclose(found.mean(), most / 2, rtol=0.05)
    assert abs(np.corrcoef(r1, r2)[0, 1]) < 0.1


def _root(function: Any) -> float:
    low, high = 1e-6, 2.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if function(low) * function(middle) > 0 else (low, middle)
    return low


@pytest.mark.parametrize("kernel", KERNELS)
def test_it_falls_with_the_distance_whatever_is_learned(kernel: Literal["logarithmic", "power"]):
    position = KerplePosition(SIZES, kernel=kernel)
    with torch.no_grad():
        position.strength.copy_(torch.tensor([-4.0, -1.0, 1.0, 4.0]))
        second(position).copy_(torch.tensor([4.0, -4.0, 1.0, -1.0]))
    found = position.bias(torch.tensor([60]), torch.arange(60, -1, -1))[:, 0]
    assert not found[:, 0].any()
    assert (found.diff() < 0).all()
    found.sum().backward()
    for parameter in (position.strength, second(position)):
        assert parameter.grad is not None and parameter.grad.isfinite().all() and parameter.grad.all()


def test_a_distance_beyond_the_longest_is_an_error():
    position = KerplePosition(SIZES)
    assert position.longest == 8192
    with pytest.raises((IndexError, RuntimeError), match="out of"):
        position.bias(torch.tensor([8192]), torch.tensor([0]))
