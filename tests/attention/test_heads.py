"""Multi-head attention: softmax(q kᵀ / sqrt(d)) v, each head apart. Vaswani et al. 2017."""

from typing import Any

import numpy as np
import pytest
import torch

from onechange import family
from onechange.attention.heads import HeadsAttention
from onechange.position.none import NoPosition
from onechange.position.rope import RotaryPosition
from onechange.sizes import Sizes
from plain_attention import filled, plain, plain_weights

turns: dict[str, Any] = {"query_key_norm": ("none", "rms"), "sliding": (0, 3), "gate": ("none", "feature")}
text_length = 8

SIZES = Sizes(layers=1, heads=3, width=12, window=7, vocabulary=5)
NONE = NoPosition(SIZES)
PLACES = torch.arange(7)


def random_input() -> np.ndarray:
    return np.random.default_rng(1).standard_normal((2, 7, 12))


def found(member: HeadsAttention, x: np.ndarray, bias: torch.Tensor | None = None) -> np.ndarray:
    return member(torch.from_numpy(x).float(), NONE, torch.arange(x.shape[1]), bias).detach().numpy()


def test_a_plain_softmax_gives_the_same():
    (member, weights), x = filled(HeadsAttention(SIZES)), random_input()
    np.testing.assert_allclose(found(member, x), plain(weights, x, 3), rtol=1e-4, atol=1e-4)


def test_a_bias_is_added_before_the_softmax(strangers: str):
    (member, weights), x = filled(HeadsAttention(SIZES)), random_input()
    slopes = np.array([0.1, 1.0, 3.0])
    position = family.build("position", family.resolve("position", strangers), SIZES)
    position.slopes.data = torch.from_numpy(slopes).float()
    bias = position.bias(PLACES, PLACES).detach()
    expected = -slopes[:, None, None] * np.abs(np.subtract.outer(np.arange(7), np.arange(7)))
    np.testing.assert_allclose(
        found(member, x, bias), plain(weights, x, 3, bias=expected), rtol=1e-4, atol=1e-4
    )


@pytest.mark.parametrize("sliding", [1, 2, 6, 7, 20])
def test_a_sliding_window_holds_so_many_tokens(sliding: int):
    (member, weights), x = filled(HeadsAttention(SIZES, sliding=sliding)), random_input()
    np.testing.assert_allclose(found(member, x), plain(weights, x, 3, reach=sliding), rtol=1e-4, atol=1e-4)


def test_queries_and_keys_are_divided_by_their_root_mean_square():
    (member, weights), x = filled(HeadsAttention(SIZES, query_key_norm="rms")), random_input()
    assert {"query_gain", "key_gain"} < weights.keys()
    np.testing.assert_allclose(found(member, x), plain(weights, x, 3), rtol=1e-4, atol=1e-4)
    with torch.no_grad():
        member.query.weight.mul_(1000)
        member.key.weight.mul_(1000)
    np.testing.assert_allclose(found(member, x), plain(weights, x, 3), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize(("gate", "shape"), [("head", (3, 12)), ("feature", (12, 12))])
def test_a_gate_multiplies_what_the_heads_found(gate: Any, shape: tuple[int, int]):
    (member, weights), x = filled(HeadsAttention(SIZES, gate=gate)), random_input()
    assert weights["gate.weight"].shape == shape
    np.testing.assert_allclose(found(member, x), plain(weights, x, 3), rtol=1e-4, atol=1e-4)


def test_weights_are_those_of_the_plain_softmax():
    (member, weights), x = filled(HeadsAttention(SIZES, sliding=4)), random_input()
    ours = member.weights(torch.from_numpy(x).float(), NONE, PLACES).detach()
    np.testing.assert_allclose(ours, plain_weights(weights, x, 3, reach=4), rtol=1e-4, atol=1e-5)


def test_values_are_not_turned_by_the_position():
    (member, weights), x = filled(HeadsAttention(SIZES)), random_input()
    one = torch.from_numpy(x[:, :1]).float()  # alone, a token's weight on itself is 1, whatever the angle
    turned = member(one, RotaryPosition(SIZES), torch.tensor([5])).detach()
    np.testing.assert_allclose(turned, plain(weights, x[:, :1], 3), rtol=1e-4, atol=1e-4)


def test_four_square_matrices_and_no_biases():
    assert {key: tuple(value.shape) for key, value in HeadsAttention(SIZES).named_parameters()} == {
        f"{name}.weight": (12, 12) for name in ("query", "key", "value", "out")
    }


def test_a_window_below_one_token_is_refused():
    with pytest.raises(ValueError, match=r"attention\.sliding = -1: must be at least 1 token, or 0 for"):
        HeadsAttention(SIZES, sliding=-1)
