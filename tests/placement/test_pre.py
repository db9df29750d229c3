"""Norm before each part: x + part(norm(x)). Xiong et al. 2020, figure 1b."""

from typing import Any

import torch
from torch import nn

from onechange.norm.layer import LayerNorm
from onechange.placement.pre import PrePlacement
from onechange.sizes import Sizes

turns: dict[str, Any] = {}
text_length = 8

SIZES = Sizes(layers=1, heads=2, width=8, window=8, vocabulary=5)


def test_two_parts_are_torch_s_layer_with_the_norm_first():
    """Their layer's own attention and mlp, with our placement around them."""
    torch.manual_seed(0)
    theirs = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True, norm_first=True)
    first, second = (PrePlacement(SIZES, lambda: LayerNorm(SIZES, bias=True)) for _ in range(2))
    with torch.no_grad():
        for ours, norm in ((first.norm, theirs.norm1), (second.norm, theirs.norm2)):
            assert isinstance(ours, LayerNorm) and ours.bias is not None
            ours.gain.copy_(norm.weight.normal_(1, 0.5))
            ours.bias.copy_(norm.bias.normal_())
        x = torch.randn(2, 5, 8)
        seen = first.before(x)
        x_between = first.after(x, theirs.self_attn(seen, seen, seen)[0])
        y = second.after(x_between, theirs.linear2(theirs.linear1(second.before(x_between)).relu()))
        torch.testing.assert_close(y, theirs(x))


def test_a_part_that_makes_nothing_leaves_the_stream_as_it_was():
    x = torch.randn(2, 5, 8, generator=torch.Generator().manual_seed(0))
    assert torch.equal(PrePlacement(SIZES, lambda: LayerNorm(SIZES)).after(x, torch.zeros_like(x)), x)


def test_one_norm_per_part_and_one_before_the_scores():
    keys = [key for key, _ in PrePlacement(SIZES, lambda: LayerNorm(SIZES)).named_parameters()]
    assert keys == ["norm.gain"]
    assert isinstance(PrePlacement.last(lambda: LayerNorm(SIZES)), LayerNorm)
