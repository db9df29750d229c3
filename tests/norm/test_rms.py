"""RMS norm: of unit mean square, times a gain; not centred. Zhang and Sennrich 2019."""

from typing import Any

import numpy as np
import pytest
import torch

from onechange.norm.rms import RmsNorm
from onechange.sizes import Sizes

turns: dict[str, Any] = {"epsilon": (1e-6, 1.0)}
text_length = 8

SIZES = Sizes(layers=1, heads=1, width=4, window=8, vocabulary=5)


def test_a_hand_computation():
    norm = RmsNorm(SIZES, epsilon=4.0)
    with torch.no_grad():
        norm.gain.copy_(torch.tensor([1.0, 2.0, 3.0, 4.0]))
    # mean square (1 + 9 + 25 + 49) / 4 = 21, with epsilon 25: divided by 5
    found = norm(torch.tensor([[[1.0, 3.0, 5.0, 7.0]]]))[0, 0].tolist()
    np.testing.assert_allclose(found, [0.2, 1.2, 3.0, 5.6], rtol=1e-6)


def test_it_is_llama_s():
    from transformers.models.llama.modeling_llama import LlamaRMSNorm

    theirs, ours = LlamaRMSNorm(4, eps=1e-6), RmsNorm(SIZES)
    random = np.random.default_rng(0)
    gain = torch.from_numpy(random.normal(1, 0.5, 4)).float()
    with torch.no_grad():
        theirs.weight.copy_(gain)
        ours.gain.copy_(gain)
    for deviation in (1e-3, 1.0, 1e3):  # the first shows the epsilon
        x = torch.from_numpy(random.normal(deviation, deviation, (2, 8, 4))).float()
        torch.testing.assert_close(ours(x), theirs(x), rtol=1e-6, atol=0)


def test_mean_square_1_at_the_start_and_not_centred():
    x = torch.from_numpy(np.random.default_rng(0).normal(3, 5, (2, 8, 4))).float()
    y = RmsNorm(SIZES)(x).detach().double()
    np.testing.assert_allclose(y.square().mean(-1), 1, rtol=1e-6)
    np.testing.assert_allclose(y / x, (y / x)[..., :1].expand(2, 8, 4), rtol=1e-6)


def test_a_factor_of_all_features_does_nothing():
    x = torch.from_numpy(np.random.default_rng(0).standard_normal((2, 8, 4))).float()
    torch.testing.assert_close(RmsNorm(SIZES)(1000 * x), RmsNorm(SIZES)(x), rtol=1e-3, atol=1e-3)


def test_the_gain_is_all_it_learns():
    assert [(key, value.tolist()) for key, value in RmsNorm(SIZES).named_parameters()] == [
        ("gain", [1.0] * 4)
    ]


def test_an_epsilon_out_of_range_is_named():
    with pytest.raises(ValueError, match=r"norm\.epsilon = -1\.0: must be above 0"):
        RmsNorm(SIZES, epsilon=-1.0)
