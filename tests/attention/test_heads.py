"""Multi-head attention: softmax(q kᵀ / sqrt(d)) v, each head apart. Vaswani et al. 2017."""

from typing import Any

import numpy as np
import torch

from onechange import family
from onechange.attention.heads import HeadsAttention
from onechange.position.none import NoPosition
from onechange.position.rope import RotaryPosition
from onechange.sizes import Sizes

turns: dict[str, Any] = {}
text_length = 8

SIZES = Sizes(layers=1, heads=3, width=12, window=7, vocabulary=5)


def attention() -> tuple[HeadsAttention, dict[str, np.ndarray], np.ndarray]:
    member, random = HeadsAttention(SIZES), np.random.default_rng(0)
    for parameter in member.parameters():
        parameter.data = torch.from_numpy(random.standard_normal(parameter.shape)).float()
    weights = {key: value.detach().double().numpy() for key, value in member.named_parameters()}
    return member, weights, random.standard_normal((2, 7, 12))


def plain(weights: dict[str, np.ndarray], x: np.ndarray, bias: np.ndarray | None = None) -> np.ndarray:
    query, key, value = (x @ weights[f"{name}.weight"].T for name in ("query", "key", "value"))
    mixed = np.zeros_like(x)
    for row in range(len(x)):
        for head in range(3):
            mine = slice(4 * head, 4 * head + 4)
            for t in range(x.shape[1]):
                scores = key[row, : t + 1, mine] @ query[row, t, mine] / np.sqrt(4)
                if bias is not None:
                    scores = scores + bias[head, t, : t + 1]
                weight = np.exp(scores - scores.max())
                mixed[row, t, mine] = weight @ value[row, : t + 1, mine] / weight.sum()
    return mixed @ weights["out.weight"].T


def test_a_plain_softmax_gives_the_same():
    member, weights, x = attention()
    found = member(torch.from_numpy(x).float(), NoPosition(SIZES), torch.arange(7)).detach()
    np.testing.assert_allclose(found, plain(weights, x), rtol=1e-4, atol=1e-4)


def test_a_bias_is_added_before_the_softmax(strangers: str):
    member, weights, x = attention()
    slopes = np.array([0.1, 1.0, 3.0])
    position = family.build("position", family.resolve("position", strangers), SIZES)
    position.slopes.data = torch.from_numpy(slopes).float()
    distance = np.abs(np.subtract.outer(np.arange(7), np.arange(7)))
    found = member(torch.from_numpy(x).float(), position, torch.arange(7)).detach()
    expected = plain(weights, x, -slopes[:, None, None] * distance)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


def test_values_are_not_turned_by_the_position():
    member, weights, x = attention()
    one = torch.from_numpy(x[:, :1]).float()  # alone, a token's weight on itself is 1, whatever the angle
    found = member(one, RotaryPosition(SIZES), torch.tensor([5])).detach()
    np.testing.assert_allclose(found, plain(weights, x[:, :1]), rtol=1e-4, atol=1e-4)


def test_four_square_matrices_and_no_biases():
    assert {key: tuple(value.shape) for key, value in attention()[0].named_parameters()} == {
        f"{name}.weight": (12, 12) for name in ("query", "key", "value", "out")
    }
