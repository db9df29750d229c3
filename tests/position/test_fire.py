"""FIRE: a small network of the distance over what lies before the query. Li et al. 2023."""

from typing import Any

import numpy as np
import pytest
import torch

from onechange.position._perceptron import perceptron
from onechange.position.fire import FirePosition
from onechange.sizes import Sizes

turns: dict[str, Any] = {"steepness": (0.1, 4.0), "threshold": (0.25, 4.0), "hidden": (32, 5)}
text_length = 24

SIZES = Sizes(layers=1, heads=3, width=6, window=64, vocabulary=5)


def drawn(position: FirePosition) -> FirePosition:
    random = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in (position.inward, position.shift, position.outward):
            parameter.normal_(generator=random)
        position.steepness.fill_(-3.0)
        position.threshold.fill_(0.7)
    return position


def exact(position: FirePosition, queries: np.ndarray, keys: np.ndarray, threshold: float) -> np.ndarray:
    """The paper's formula with the network written out, in float64, one pair at a time."""
    inward, shift, outward, steepness = (
        parameter.detach().double().numpy()
        for parameter in (position.inward, position.shift, position.outward, position.steepness)
    )

    def psi(x: float) -> float:
        return float(np.log(abs(steepness) * 0.1 * x + 1))

    found = np.zeros((len(outward), len(queries), len(keys)))
    for row, i in enumerate(queries):
        for column, j in enumerate(keys[keys <= i]):
            share = psi(i - j) / psi(max(threshold, i))
            found[:, row, column] = outward @ np.maximum(inward * share + shift, 0)
    return found


def test_the_bias_is_the_paper_s_formula():
    position, places = drawn(FirePosition(SIZES)), np.arange(0, 300, 7)
    found = position.bias(torch.from_numpy(places), torch.from_numpy(places)).detach().double().numpy()
    theirs = exact(position, places, places, 0.7 * 16)
    seen = np.tril(np.ones((len(places), len(places)), dtype=bool))
    np.testing.assert_allclose(found[:, seen], theirs[:, seen], rtol=0, atol=2e-5)
    assert np.abs(theirs[:, seen]).max() > 1


def test_the_first_threshold_is_a_quarter_of_the_window_as_512_of_2_048():
    position = FirePosition(Sizes(layers=1, heads=3, width=6, window=2048, vocabulary=5))
    with torch.no_grad():
        position.outward.normal_(generator=torch.Generator().manual_seed(0))
    places = np.array([0, 1, 500, 511, 512, 513, 2000])
    found = position.bias(torch.from_numpy(places), torch.from_numpy(places)).detach().double().numpy()
    theirs = exact(position, places, places, 512.0)
    np.testing.assert_allclose(np.tril(found), np.tril(theirs), rtol=0, atol=2e-5)


def test_in_the_limit_a_longer_text_asks_for_no_more_than_a_shorter_one():
    """Every share lies in 0 to 1: the first key of any query beyond the threshold is at 1."""
    position = drawn(FirePosition(SIZES))
    found = position.bias(torch.tensor([100, 1000, 100_000]), torch.tensor([0])).detach()
    torch.testing.assert_close(found[:, 1:], found[:, :1].expand(-1, 2, -1), rtol=1e-5, atol=1e-5)


@torch.no_grad()
def test_units_begin_with_their_switches_spread_over_0_to_1():
    position = FirePosition(SIZES, hidden=4)
    x = torch.linspace(0, 1, 9)
    on = position.inward[:, None] * x + position.shift[:, None] > 0
    assert on.int().tolist() == [
        [0, 0, 1, 1, 1, 1, 1, 1, 1],
        [1, 1, 1, 0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0, 1, 1, 1],
        [1, 1, 1, 1, 1, 1, 1, 0, 0],
    ]


def test_the_lines_are_the_plain_network_and_so_are_their_gradients():
    random = torch.Generator().manual_seed(3)
    inward, shift = torch.randn(2, 32, generator=random, dtype=torch.float64)
    inward[5], shift[5] = 0.0, 0.7  # always on
    inward[6], shift[6] = 0.0, -0.7  # never on
    inward[7], shift[7] = 0.0, 0.0
    given = [torch.rand(9, 40, generator=random, dtype=torch.float64), inward, shift]
    given.append(torch.randn(4, 32, generator=random, dtype=torch.float64))
    slope = torch.randn(4, 9, 40, generator=random, dtype=torch.float64)

    def plain(
        x: torch.Tensor, inward: torch.Tensor, shift: torch.Tensor, outward: torch.Tensor
    ) -> torch.Tensor:
        return torch.einsum("hk,qtk->hqt", outward, torch.relu(x[..., None] * inward + shift))

    results = []
    for way in (perceptron, plain):
        leaves = [each.clone().requires_grad_() for each in given]
        found = way(*leaves)
        results.append([found, *torch.autograd.grad(found, leaves, slope)])
    keep = torch.arange(32) != 7  # rests on its switch everywhere, where the gradient is a matter of taste
    for part, (ours, theirs) in enumerate(zip(*results, strict=True)):
        if part in (2, 3):
            ours, theirs = ours[keep], theirs[keep]
        torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"steepness": 0.0}, r"position\.steepness = 0\.0: must be above 0"),
        ({"threshold": -1.0}, r"position\.threshold = -1\.0: must be above 0"),
        ({"hidden": 0}, r"position\.hidden = 0: must be at least 1"),
    ],
)
def test_a_setting_out_of_range_is_named(settings: dict[str, Any], message: str):
    with pytest.raises(ValueError, match=message):
        FirePosition(SIZES, **settings)
