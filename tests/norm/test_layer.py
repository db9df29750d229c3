"""Layer norm: centred, of unit variance, times a gain. Ba et al. 2016."""

from typing import Any

import numpy as np
import torch

from onechange.norm.layer import LayerNorm
from onechange.sizes import Sizes

turns: dict[str, Any] = {}
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


def test_mean_0_and_variance_1_at_the_start():
    x = torch.from_numpy(np.random.default_rng(0).normal(3, 50, (2, 8, 4))).float()
    y = LayerNorm(SIZES)(x).double()
    np.testing.assert_allclose(y.mean(-1).detach(), 0, atol=1e-6)
    np.testing.assert_allclose(y.var(-1, unbiased=False).detach(), 1, rtol=1e-5)


def test_a_shift_of_all_features_does_nothing():
    x = torch.from_numpy(np.random.default_rng(0).standard_normal((2, 8, 4))).float()
    torch.testing.assert_close(LayerNorm(SIZES)(x + 5), LayerNorm(SIZES)(x), rtol=1e-4, atol=1e-5)


def test_the_gain_is_all_it_learns():
    assert [(key, value.tolist()) for key, value in LayerNorm(SIZES).named_parameters()] == [
        ("gain", [1.0] * 4)
    ]


def test_statistics_are_float32_under_autocast():
    x = torch.from_numpy(np.random.default_rng(0).normal(100, 1, (2, 8, 4))).float()
    with torch.autocast("cpu", torch.bfloat16):
        y = LayerNorm(SIZES)(x)
    torch.testing.assert_close(y.float(), LayerNorm(SIZES)(x), rtol=1e-4, atol=1e-4)
