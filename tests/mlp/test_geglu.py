"""GEGLU: out(GELU(gate(x)) · hidden(x)). Shazeer 2020, equation 6."""

from typing import Any

import numpy as np
import torch
from scipy.special import erf

from onechange.mlp.geglu import GegluMlp
from onechange.sizes import Sizes

turns: dict[str, Any] = {"hidden": (0, 40)}
text_length = 8

SIZES = Sizes(layers=1, heads=1, width=12, window=8, vocabulary=5)


def test_the_gate_goes_through_the_exact_gelu_and_scales_the_other():
    mlp = GegluMlp(SIZES)
    gate, hidden, out = (
        layer.weight.detach().double().numpy().T for layer in (mlp.gate, mlp.hidden, mlp.out)
    )
    x = np.random.default_rng(0).normal(0, 3, (2, 8, 12))
    activated = (x @ gate) * (1 + erf((x @ gate) / np.sqrt(2))) / 2
    expected = (activated * (x @ hidden)) @ out
    np.testing.assert_allclose(mlp(torch.from_numpy(x).float()).detach(), expected, rtol=1e-4, atol=1e-5)


def test_two_thirds_as_wide_as_a_plain_one_and_no_biases():
    assert {key: tuple(value.shape) for key, value in GegluMlp(SIZES).named_parameters()} == {
        "gate.weight": (32, 12),
        "hidden.weight": (32, 12),
        "out.weight": (12, 32),
    }
