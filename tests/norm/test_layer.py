"""Layer norm: centred, of unit variance, times a gain. Ba et al. 2016."""

from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from onechange.norm.layer import LayerNorm
from onechange.sizes import Sizes

turns: dict[str, Any] = {"bias": (False, True), "epsilon": (1e-5, 1.0)}
text_length = 8

SIZES = Sizes(layers=1, heads=1, width=4, window=8, vocabulary=5)


def test_a_hand_computation():
    norm = LayerNorm(SIZES)
    with torch.no_grad():
        norm.gain.copy_(torch.tensor([1.0, 2.0, 3.0, 4.0]))
    # mean 4, squared distances 9 + 1 + 1 + 9 over 4: variance 5
    found = norm(torch.tensor([[[1.0, 3.0, 5.0, 7.0]]]))[0, 0].tolist()
    root = (5 + 1e-5) ** 0.5
    np.testing.assert_allclose(found, [-3 / root, -2 / root, 3 / root, 12 / root], rtol=1e-6)


def test_a_bias_is_added_after_the_gain():
    norm = LayerNorm(SIZES, bias=True, epsilon=4.0)
    assert norm.bias is not None and norm.bias.tolist() == [0.0] * 4
    with torch.no_grad():
        norm.gain.copy_(torch.tensor([1.0, 2.0, 3.0, 4.0]))
        norm.bias.copy_(torch.tensor([10.0, 20.0, 30.0, 40.0]))
    # variance 5, with epsilon 9: divided by 3
    found = norm(torch.tensor([[[1.0, 3.0, 5.0, 7.0]]]))[0, 0].tolist()
    np.testing.assert_allclose(found, [10 - 1, 20 - 2 / 3, 30 + 1, 40 + 4], rtol=1e-6)


def test_the_defaults_are_torch_s_without_a_bias():
    x = torch.randn(2, 8, 4, generator=torch.Generator().manual_seed(0))
    assert torch.equal(LayerNorm(SIZES)(x), F.layer_norm(x, (4,), torch.ones(4), None, 1e-5))


def test_mean_0_and_variance_1_at_the_start():
    x = torch.from_numpy(np.random.default_rng(0).normal(3, 50, (2, 8, 4))).float()
    y = LayerNorm(SIZES)(x).double()
    np.testing.assert_allclose(y.mean(-1).detach(), 0, atol=1e-6)
    np.testing.assert_allclose(y.var(-1, unbiased=False).detach(), 1, rtol=1e-5)


def test_a_shift_or_a_factor_of_all_features_does_nothing():
    x = torch.from_numpy(np.random.default_rng(0).standard_normal((2, 8, 4))).float()
    torch.testing.assert_close(LayerNorm(SIZES)(x + 5), LayerNorm(SIZES)(x), rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(LayerNorm(SIZES)(1000 * x), LayerNorm(SIZES)(x), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize(
    ("bias", "parameters"), [(False, {"gain": [1.0] * 4}), (True, {"gain": [1.0] * 4, "bias": [0.0] * 4})]
)
def test_what_it_learns(bias: bool, parameters: dict[str, list[float]]):
    assert {
        key: value.tolist() for key, value in LayerNorm(SIZES, bias=bias).named_parameters()
    } == parameters


def test_statistics_are_float32_under_autocast():
    x = torch.from_numpy(np.random.default_rng(0).normal(100, 1, (2, 8, 4))).float()
    with torch.autocast("cpu", torch.bfloat16):
        y = LayerNorm(SIZES)(x)
    torch.testing.assert_close(y, LayerNorm(SIZES)(x), rtol=1e-4, atol=1e-4)


def test_an_epsilon_out_of_range_is_named():
    with pytest.raises(ValueError, match=r"norm\.epsilon = 0\.0: must be above 0"):
        LayerNorm(SIZES, epsilon=0.0)
