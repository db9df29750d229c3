"""Dynamic tanh: gain · tanh(alpha · x) + bias, every feature by itself. Zhu et al. 2025, section 4."""

from typing import Any

import numpy as np
import pytest
import torch

from onechange.norm.dynamic_tanh import DynamicTanh
from onechange.sizes import Sizes

turns: dict[str, Any] = {"start": (0.5, 2.0)}
text_length = 8

SIZES = Sizes(layers=1, heads=1, width=4, window=8, vocabulary=5)


def test_the_formula():
    norm, random = DynamicTanh(SIZES), np.random.default_rng(0)
    alpha, gain, bias = random.normal(1, 0.5), random.normal(1, 0.5, 4), random.standard_normal(4)
    with torch.no_grad():
        for parameter, value in ((norm.alpha, alpha), (norm.gain, gain), (norm.bias, bias)):
            parameter.copy_(torch.as_tensor(value))
    x = random.normal(0, 3, (2, 8, 4))
    expected = gain * np.tanh(alpha * x) + bias
    np.testing.assert_allclose(norm(torch.from_numpy(x).float()).detach(), expected, rtol=1e-5, atol=1e-6)


def test_the_start_is_the_paper_s():
    found = {key: value.tolist() for key, value in DynamicTanh(SIZES).named_parameters()}
    assert found == {"alpha": 0.5, "gain": [1.0] * 4, "bias": [0.0] * 4}


def test_small_features_are_scaled_by_alpha_and_large_ones_squashed():
    y = DynamicTanh(SIZES, start=0.25)(torch.tensor([[[1e-3, -1e-3, 1e3, -1e3]]]))
    np.testing.assert_allclose(y.detach()[0, 0], [0.25e-3, -0.25e-3, 1.0, -1.0], rtol=1e-6)


def test_a_feature_does_not_depend_on_the_others():
    x = torch.ones(1, 1, 4)
    changed = torch.tensor([[[1.0, 7.0, 1.0, -7.0]]])
    assert torch.equal(DynamicTanh(SIZES)(x)[..., ::2], DynamicTanh(SIZES)(changed)[..., ::2])


def test_a_start_out_of_range_is_named():
    with pytest.raises(ValueError, match=r"norm\.start = 0\.0: must be above 0"):
        DynamicTanh(SIZES, start=0.0)
