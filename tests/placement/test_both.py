"""Norm before each part and on what it adds: x + norm(part(norm(x))). Ding et al. 2021, section 2.3."""

from typing import Any

import numpy as np
import torch

from onechange.norm.layer import LayerNorm
from onechange.norm.rms import RmsNorm
from onechange.placement.both import BothPlacement
from onechange.sizes import Sizes

turns: dict[str, Any] = {}
text_length = 8

SIZES = Sizes(layers=1, heads=1, width=8, window=8, vocabulary=5)


def rms(x: np.ndarray) -> np.ndarray:
    return x / np.sqrt((x**2).mean(-1, keepdims=True))


def test_the_formula():
    placement, random = BothPlacement(SIZES, lambda: RmsNorm(SIZES)), np.random.default_rng(0)
    read, added = random.normal(1, 0.5, 8), random.normal(1, 0.5, 8)
    with torch.no_grad():
        for norm, gain in ((placement.norm, read), (placement.norm_of_added, added)):
            assert isinstance(norm, RmsNorm)
            norm.gain.copy_(torch.from_numpy(gain))
    x, matrix = random.standard_normal((2, 5, 8)), random.standard_normal((8, 8))
    expected = x + rms(rms(x) * read @ matrix) * added
    given = torch.from_numpy(x).float()
    found = placement.after(given, placement.before(given) @ torch.from_numpy(matrix).float())
    np.testing.assert_allclose(found.detach(), expected, rtol=1e-4, atol=1e-5)


def test_every_part_adds_equally_much_at_the_start():
    placement = BothPlacement(SIZES, lambda: LayerNorm(SIZES))
    made = torch.randn(2, 5, 8, generator=torch.Generator().manual_seed(0))
    x = torch.zeros_like(made)
    torch.testing.assert_close(placement.after(x, 100 * made), placement.after(x, made), rtol=1e-3, atol=1e-3)


def test_a_part_that_makes_nothing_leaves_the_stream_as_it_was():
    x = torch.randn(2, 5, 8, generator=torch.Generator().manual_seed(0))
    assert torch.equal(BothPlacement(SIZES, lambda: LayerNorm(SIZES)).after(x, torch.zeros_like(x)), x)


def test_two_norms_per_part_and_one_before_the_scores():
    keys = [key for key, _ in BothPlacement(SIZES, lambda: LayerNorm(SIZES)).named_parameters()]
    assert keys == ["norm.gain", "norm_of_added.gain"]
    assert isinstance(BothPlacement.last(lambda: LayerNorm(SIZES)), LayerNorm)
