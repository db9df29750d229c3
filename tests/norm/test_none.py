"""No norm: what comes in goes out."""

from typing import Any

import torch

from onechange.norm.none import NoNorm
from onechange.sizes import Sizes

turns: dict[str, Any] = {}
text_length = 8

SIZES = Sizes(layers=1, heads=1, width=4, window=8, vocabulary=5)


def test_what_comes_in_goes_out():
    x = torch.tensor([[[1e-30, -3.0, 5e30, 0.0]]])
    assert torch.equal(NoNorm(SIZES)(x), x)


def test_nothing_is_learned():
    assert not list(NoNorm(SIZES).parameters())
