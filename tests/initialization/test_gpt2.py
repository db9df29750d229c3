"""GPT-2's first weights: normal, 0.02, less where the residual stream is written. Radford et al. 2019."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from onechange.initialization.gpt2 import Gpt2Initialization
from onechange.seed import stream

turns: dict[str, Any] = {"deviation": (0.02, 0.05)}
text_length = 8


def drawn(key: str, layers: int, **settings: float) -> np.ndarray:
    rule = Gpt2Initialization(**settings)
    return rule.draw(key, (200, 100), layers, stream(0, "weights", key)).flatten()


@pytest.mark.parametrize("layers", [1, 8])
@pytest.mark.parametrize("key", ["embedding", "unembedding.weight", "blocks.0.mlp.hidden.weight"])
def test_a_normal_distribution_of_deviation_0_02(key: str, layers: int):
    assert stats.kstest(drawn(key, layers), "norm", args=(0, 0.02)).pvalue > 0.01
    assert stats.kstest(drawn(key, layers), "norm", args=(0, 0.021)).pvalue < 0.01, "it would be seen"


@pytest.mark.parametrize(("layers", "deviation"), [(2, 0.01), (8, 0.005), (32, 0.0025)])
@pytest.mark.parametrize("part", ["attention", "mlp"])
def test_what_writes_into_the_stream_is_divided_by_the_root_of_the_number_of_parts(
    part: str, layers: int, deviation: float
):
    """Two parts in every layer: 8 layers have 16, whose root is 4."""
    assert (
        stats.kstest(drawn(f"blocks.1.{part}.out.weight", layers), "norm", args=(0, deviation)).pvalue > 0.01
    )


def test_deviations_are_those_of_transformers():
    import torch
    from transformers.models.gpt2.configuration_gpt2 import GPT2Config
    from transformers.models.gpt2.modeling_gpt2 import GPT2Model

    torch.manual_seed(0)
    theirs = GPT2Model(GPT2Config(vocab_size=100, n_positions=64, n_embd=64, n_layer=3, n_head=2))
    for key, their_key in (
        ("embedding", "wte.weight"),
        ("position.table", "wpe.weight"),
        ("blocks.1.mlp.hidden.weight", "h.1.mlp.c_fc.weight"),
        ("blocks.1.mlp.out.weight", "h.1.mlp.c_proj.weight"),
        ("blocks.1.attention.out.weight", "h.1.attn.c_proj.weight"),
    ):
        there = theirs.get_parameter(their_key).detach().numpy()
        assert drawn(key, 3).std() == pytest.approx(there.std(), rel=0.05), key


def test_a_deviation_scales_all():
    for key in ("embedding", "blocks.0.mlp.out.weight"):
        np.testing.assert_allclose(drawn(key, 3, deviation=0.05), 2.5 * drawn(key, 3), rtol=1e-12)


def test_a_deviation_out_of_range_is_named():
    with pytest.raises(ValueError, match=r"initialization\.deviation = 0\.0: must be above 0"):
        Gpt2Initialization(deviation=0.0)
