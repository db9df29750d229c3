"""SwiGLU: out(SiLU(gate(x)) · hidden(x)). Shazeer 2020, equation 6."""

from typing import Any

import numpy as np
import torch

from onechange.mlp.swiglu import SwigluMlp
from onechange.sizes import Sizes

turns: dict[str, Any] = {"hidden": (0, 40)}
text_length = 8

SIZES = Sizes(layers=1, heads=1, width=12, window=8, vocabulary=5)


def test_the_gate_goes_through_silu_and_scales_the_other():
    mlp = SwigluMlp(SIZES)
    gate, hidden, out = (
        layer.weight.detach().double().numpy().T for layer in (mlp.gate, mlp.hidden, mlp.out)
    )
    x = np.random.default_rng(0).normal(0, 3, (2, 8, 12))
    expected = ((x @ gate) / (1 + np.exp(-(x @ gate))) * (x @ hidden)) @ out
    np.testing.assert_allclose(mlp(torch.from_numpy(x).float()).detach(), expected, rtol=1e-4, atol=1e-5)


def test_it_is_llama_s():
    from transformers.models.llama.configuration_llama import LlamaConfig
    from transformers.models.llama.modeling_llama import LlamaMLP

    theirs = LlamaMLP(LlamaConfig(hidden_size=12, num_attention_heads=1, intermediate_size=40))
    ours = SwigluMlp(SIZES, hidden=40)
    with torch.no_grad():
        for here, there in (
            (ours.gate, theirs.gate_proj),
            (ours.hidden, theirs.up_proj),
            (ours.out, theirs.down_proj),
        ):
            here.weight.copy_(there.weight)
    x = torch.randn(2, 8, 12, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(ours(x), theirs(x), rtol=1e-6, atol=1e-7)


def test_two_thirds_as_wide_as_a_plain_one_and_no_biases():
    assert {key: tuple(value.shape) for key, value in SwigluMlp(SIZES).named_parameters()} == {
        "gate.weight": (32, 12),
        "hidden.weight": (32, 12),
        "out.weight": (12, 32),
    }
