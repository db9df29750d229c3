"""GELU: x · Φ(x), exact or by GPT-2's hyperbolic tangent. Hendrycks and Gimpel 2016."""

from typing import Any

import numpy as np
import torch
from scipy.special import erf

from onechange.mlp.gelu import GeluMlp
from onechange.sizes import Sizes

turns: dict[str, Any] = {"hidden": (0, 40), "approximation": ("none", "tanh")}
text_length = 8

SIZES = Sizes(layers=1, heads=1, width=8, window=8, vocabulary=5)


def test_two_layers_with_x_times_phi_of_x_between():
    mlp = GeluMlp(SIZES)
    x = np.random.default_rng(0).normal(0, 3, (2, 8, 8))
    hidden = x @ mlp.hidden.weight.detach().double().numpy().T
    hidden = hidden * (1 + erf(hidden / np.sqrt(2))) / 2
    expected = hidden @ mlp.out.weight.detach().double().numpy().T
    np.testing.assert_allclose(mlp(torch.from_numpy(x).float()).detach(), expected, rtol=1e-4, atol=1e-6)


def test_the_exact_one_is_not_the_approximation_by_tanh():
    for mlp, expected in (
        (GeluMlp(SIZES), -2 * (1 + erf(-2 / np.sqrt(2))) / 2),
        (
            GeluMlp(SIZES, approximation="tanh"),
            -1 * (1 + np.tanh(np.sqrt(2 / np.pi) * (-2 - 0.044715 * 8))),
        ),
    ):
        with torch.no_grad():
            mlp.hidden.weight.zero_()[0, 0] = 1.0
            mlp.out.weight.zero_()[0, 0] = 1.0
        at_2 = mlp(torch.full((1, 1, 8), -2.0))[0, 0, 0].item()
        assert abs(at_2 - expected) < 1e-6  # the two are 1e-4 apart


def test_with_tanh_it_is_gpt_2_s():
    from transformers.models.gpt2.configuration_gpt2 import GPT2Config
    from transformers.models.gpt2.modeling_gpt2 import GPT2MLP

    theirs = GPT2MLP(32, GPT2Config(n_embd=8, resid_pdrop=0.0))
    ours = GeluMlp(SIZES, approximation="tanh")
    with torch.no_grad():
        for here, there in ((ours.hidden, theirs.c_fc), (ours.out, theirs.c_proj)):
            here.weight.copy_(there.weight.normal_(generator=torch.Generator().manual_seed(0)).T)
            there.bias.zero_()
    x = torch.randn(2, 8, 8, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(ours(x), theirs(x), rtol=1e-5, atol=1e-4)


def test_four_times_as_wide_inside_and_no_biases():
    assert {key: tuple(value.shape) for key, value in GeluMlp(SIZES).named_parameters()} == {
        "hidden.weight": (32, 8),
        "out.weight": (8, 32),
    }
