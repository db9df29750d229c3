"""ALiBi: what stands farther back counts less, with the slopes of the paper and of BLOOM. Press et al. 2021."""

from typing import Any

import pytest
import torch

from onechange.position.alibi import AlibiPosition
from onechange.sizes import Sizes

turns: dict[str, Any] = {}
text_length = 8


def with_heads(heads: int) -> AlibiPosition:
    return AlibiPosition(Sizes(layers=1, heads=heads, width=2 * heads, window=16, vocabulary=5))


def test_eight_heads_have_the_slopes_that_the_paper_names():
    assert with_heads(8).slopes.values.tolist() == [2.0**-power for power in range(1, 9)]


def test_sixteen_heads_interpolate_as_the_paper_says():
    slopes = with_heads(16).slopes.values
    torch.testing.assert_close(slopes[:3], torch.tensor([2**-0.5, 2**-1, 2**-1.5]))
    assert slopes[-1] == 2**-8


@pytest.mark.parametrize("heads", [1, 2, 3, 5, 6, 8, 12, 14, 16, 20, 25, 32, 71, 112])
def test_it_is_bloom_s_up_to_a_constant_of_each_query(heads: int):
    from transformers.models.bloom.modeling_bloom import build_alibi_tensor

    places = torch.arange(64)
    theirs = build_alibi_tensor(torch.ones(1, 64), heads, torch.float32)
    ours = with_heads(heads).bias(places, places)
    difference = (theirs - ours).masked_fill(places > places[:, None], torch.nan)
    torch.testing.assert_close(
        difference.nan_to_num(-torch.inf).amax(-1),
        difference.nan_to_num(torch.inf).amin(-1),
        rtol=1e-6,
        atol=1e-6,
    )


def test_a_hand_computation():
    found = with_heads(2).bias(torch.tensor([7, 1000]), torch.tensor([3, 7]))
    assert found.tolist() == [
        [[-4 / 16, 0], [-997 / 16, -993 / 16]],
        [[-4 / 256, 0], [-997 / 256, -993 / 256]],
    ]


def test_slopes_are_not_rounded_when_a_model_is_cast():
    exact = with_heads(12).slopes.values
    assert torch.equal(with_heads(12).to(torch.bfloat16).slopes.values, exact)
    assert not torch.equal(exact.bfloat16().float(), exact), "what is tested would be lost by rounding"


def test_nothing_is_learned():
    assert not list(with_heads(4).parameters())
