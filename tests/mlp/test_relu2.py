"""Squared ReLU: max(0, x)². So et al. 2021, section 4.1."""

from typing import Any

import numpy as np
import torch

from onechange.mlp.relu2 import Relu2Mlp
from onechange.sizes import Sizes

turns: dict[str, Any] = {"hidden": (0, 40)}
text_length = 8

SIZES = Sizes(layers=1, heads=1, width=8, window=8, vocabulary=5)


def test_two_layers_with_the_square_of_what_is_positive_between():
    mlp = Relu2Mlp(SIZES)
    x = np.random.default_rng(0).normal(0, 3, (2, 8, 8))
    hidden = x @ mlp.hidden.weight.detach().double().numpy().T
    expected = np.where(hidden > 0, hidden**2, 0) @ mlp.out.weight.detach().double().numpy().T
    np.testing.assert_allclose(mlp(torch.from_numpy(x).float()).detach(), expected, rtol=1e-4, atol=1e-5)


def test_twice_the_input_is_four_times_the_output():
    mlp = Relu2Mlp(SIZES)
    x = torch.randn(2, 8, 8, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(mlp(2 * x), 4 * mlp(x))


def test_four_times_as_wide_inside_and_no_biases():
    assert {key: tuple(value.shape) for key, value in Relu2Mlp(SIZES).named_parameters()} == {
        "hidden.weight": (32, 8),
        "out.weight": (8, 32),
    }
