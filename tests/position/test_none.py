"""No positional encoding: what is left of order is the causal mask."""

from typing import Any

import torch

from onechange.first_weights import fill
from onechange.initialization.gpt2 import Gpt2Initialization
from onechange.model import Model
from onechange.sizes import Sizes
from small_models import usual_parts

turns: dict[str, Any] = {}
text_length = 8

SIZES = Sizes(layers=1, heads=2, width=16, window=8, vocabulary=11)


@torch.no_grad()
def test_in_one_layer_the_order_of_the_past_is_not_seen():
    model = Model(SIZES, usual_parts(position="none"))
    fill(model, 0, 1, Gpt2Initialization())
    model.embedding.mul_(10)
    tokens = torch.tensor([[1, 2, 3, 4, 5]])
    shuffled = torch.tensor([[3, 1, 4, 2, 5]])
    torch.testing.assert_close(model(tokens)[:, -1], model(shuffled)[:, -1])
    assert (model(tokens)[:, 1] - model(shuffled)[:, 1]).abs().max() > 1e-2, "what is seen still matters"


def test_it_has_no_parameters():
    model = Model(SIZES, usual_parts(position="none"))
    assert not list(model.position.parameters())
