"""Norm after each part: norm(x + part(x)). Vaswani et al. 2017, section 3.1."""

from typing import Any

import torch
from torch import nn

from onechange.first_weights import fill
from onechange.initialization.gpt2 import Gpt2Initialization
from onechange.model import Model
from onechange.norm.layer import LayerNorm
from onechange.placement.post import PostPlacement
from onechange.sizes import Sizes
from small_models import usual_parts

turns: dict[str, Any] = {}
text_length = 8

SIZES = Sizes(layers=2, heads=2, width=8, window=8, vocabulary=5)


def test_two_parts_are_torch_s_layer_with_the_norm_last():
    """Their layer's own attention and mlp, with our placement around them."""
    torch.manual_seed(0)
    theirs = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True, norm_first=False)
    first, second = (PostPlacement(SIZES, lambda: LayerNorm(SIZES, bias=True)) for _ in range(2))
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


def test_the_features_of_a_model_are_normalised_without_a_last_norm():
    model = Model(SIZES, usual_parts(placement="post"))
    fill(model, 0, 2, Gpt2Initialization())
    gains = [key for key, value in model.named_parameters() if value.ndim == 1]
    assert gains == [f"blocks.{n}.{part}_norm.norm.gain" for n in (0, 1) for part in ("attention", "mlp")]
    with torch.no_grad():
        features = model(torch.arange(5)[None]).double()
    torch.testing.assert_close(features.mean(-1), torch.zeros(1, 5).double(), rtol=0, atol=1e-6)
    # first embeddings are small, so that the epsilon of the norms shows a little
    torch.testing.assert_close(features.var(-1, correction=0), torch.ones(1, 5).double(), rtol=1e-3, atol=0)
