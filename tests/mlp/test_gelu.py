"""GELU: x · Φ(x), the exact one. Hendrycks and Gimpel 2016."""

from typing import Any

import numpy as np
import torch
from scipy.special import erf

from onechange.mlp.gelu import GeluMlp
from onechange.sizes import Sizes

turns: dict[str, Any] = {}
text_length = 8

SIZES = Sizes(layers=1, heads=1, width=8, window=8, vocabulary=5)


def test_two_layers_with_x_times_phi_of_x_between():
    mlp = GeluMlp(SIZES)
    x = np.random.default_rng(0).normal(0, 3, (2, 8, 8))
    hidden = x @ mlp.hidden.weight.detach().double().numpy().T
    hidden = hidden * (1 + erf(hidden / np.sqrt(2))) / 2
    expected = hidden @ mlp.out.weight.detach().double().numpy().T
    np.testing.assert_allclose(mlp(torch.from_numpy(x).float()).detach(), expected, rtol=1e-4, atol=1e-6)


def test_it_is_not_the_approximation_by_tanh():
    mlp = GeluMlp(SIZES)
    with torch.no_grad():
        mlp.hidden.weight.zero_()[0, 0] = 1.0
        mlp.out.weight.zero_()[0, 0] = 1.0
    at_2 = mlp(torch.full((1, 1, 8), -2.0))[0, 0, 0].item()
    assert abs(at_2 - -2 * (1 + erf(-2 / np.sqrt(2))) / 2) < 1e-6  # tanh's is 1e-4 away


def test_four_times_as_wide_inside_and_no_biases():
    assert {key: tuple(value.shape) for key, value in GeluMlp(SIZES).named_parameters()} == {
        "hidden.weight": (32, 8),
        "out.weight": (8, 32),
    }
