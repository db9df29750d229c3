"""RoPE: a product of a turned query and a turned key depends on their distance only. Su et al. 2021."""

import math

import numpy as np
import pytest
import torch

from onechange import family
from onechange.position.rope import RotaryPosition
from onechange.sizes import Sizes

turns = {"theta": (10_000.0, 500.0)}
text_length = 24

ARTICLE = Sizes(layers=6, heads=6, width=384, window=512, vocabulary=4096)


def drawn(*shape: int) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(0).standard_normal(shape)).float()


def turned(x: np.ndarray, positions: np.ndarray, theta: float = 10_000.0) -> np.ndarray:
    """Su et al., equations 12 and 13, with pairs of features as complex numbers, in float64."""
    half = x.shape[-1] // 2
    frequency = np.array([math.exp(-math.log(theta) * 2 * pair / x.shape[-1]) for pair in range(half)])
    pairs = x[..., 0::2] + 1j * x[..., 1::2]
    pairs = pairs * np.exp(1j * positions[:, None] * frequency)
    return np.stack([pairs.real, pairs.imag], -1).reshape(x.shape)


def test_a_product_depends_on_the_distance_only():
    rope = RotaryPosition(ARTICLE)
    query, key = drawn(2, 1, 6, 1, 64)

    def product(at: int, and_at: int) -> torch.Tensor:
        return (rope.rotate(query, torch.tensor([at])) * rope.rotate(key, torch.tensor([and_at]))).sum(-1)

    torch.testing.assert_close(product(408, 405), product(8, 5), rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(product(511, 11), product(500, 0), rtol=1e-4, atol=1e-4)
    assert (product(8, 5) - product(5, 8)).abs().max() > 0.1, "the sign of the distance counts"
    assert (product(8, 5) - product(8, 4)).abs().max() > 0.1
    torch.testing.assert_close(product(0, 0), (query * key).sum(-1))


@pytest.mark.parametrize("theta", [10_000.0, 500.0])
def test_every_position_is_turned_as_complex_numbers_in_float64_are(theta: float):
    x = drawn(2, 6, 512, 64)
    ours = RotaryPosition(ARTICLE, theta=theta).rotate(x, torch.arange(512))
    exact = turned(x.double().numpy(), np.arange(512), theta)
    np.testing.assert_allclose(ours.numpy(), exact, rtol=0, atol=2e-6)


def test_theta_is_10_000_unless_given():
    assert family.defaults("position", "rope") == {"theta": 10_000.0}


def test_consecutive_features_are_a_pair():
    x = torch.zeros(1, 1, 1, 64)
    x[..., 2] = 1.0
    at_7 = RotaryPosition(ARTICLE).rotate(x, torch.tensor([7]))[0, 0, 0].double()
    angle = 7 * 10_000.0 ** (-2 / 64)
    assert at_7.nonzero().flatten().tolist() == [2, 3]
    assert at_7[2:4].tolist() == pytest.approx([math.cos(angle), math.sin(angle)], abs=1e-7)


def test_lengths_are_kept():
    x = drawn(1, 6, 512, 64)
    torch.testing.assert_close(
        RotaryPosition(ARTICLE).rotate(x, torch.arange(512)).norm(dim=-1), x.norm(dim=-1)
    )


@pytest.mark.parametrize("cast", [False, True])
def test_angles_are_float32_whatever_the_precision(cast: bool):
    """At position 500 an angle rounded to bf16 would be off by a whole radian."""
    rope = RotaryPosition(ARTICLE)
    if cast:
        rope = rope.to(torch.bfloat16)
    assert rope.cosines.dtype == rope.sines.dtype == torch.float32
    x = drawn(1, 6, 512, 64).bfloat16()
    with torch.autocast("cpu", torch.bfloat16):
        ours = rope.rotate(x, torch.arange(512))
    assert ours.dtype == torch.bfloat16
    exact = torch.from_numpy(turned(x.double().numpy(), np.arange(512)))
    assert torch.equal(ours, exact.bfloat16()) or (ours.double() - exact).abs().max() < 0.02


def test_nothing_is_learned_and_nothing_else_is_done():
    rope = RotaryPosition(ARTICLE)
    x = drawn(1, 3, 384)
    assert not list(rope.parameters())
    assert rope.embed(x, torch.arange(3)) is x
    assert rope.bias(torch.arange(3), torch.arange(3)) is None


def test_an_odd_head_is_refused():
    with pytest.raises(ValueError, match=r"a head has 3 \(width = 6, heads = 2\): choose an even number"):
        RotaryPosition(Sizes(layers=1, heads=2, width=6, window=4, vocabulary=5))


@pytest.mark.parametrize("theta", [1.0, 0.0, -3.0])
def test_a_theta_that_turns_nothing_is_refused(theta: float):
    with pytest.raises(ValueError, match=rf"position\.theta = {theta}: must be above 1"):
        RotaryPosition(ARTICLE, theta=theta)
