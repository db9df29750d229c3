"""AdamW: decay apart from the gradient, moments corrected for their start.

Loshchilov and Hutter 2017, algorithm 2.
"""

import numpy as np
import pytest
import torch
from torch import nn

from onechange import family
from onechange.optimizer.adamw import AdamW

turns = {
    "learning_rate": (1e-2, 3e-3),
    "beta1": (0.9, 0.8),
    "beta2": (0.95, 0.999),
    "weight_decay": (0.1, 0.0),
}
text_length = 24


def test_five_updates_by_hand():
    random = np.random.default_rng(0)
    matrix, vector = random.standard_normal((3, 4)), random.standard_normal(4)
    parameters = {"matrix": nn.Parameter(torch.tensor(matrix)), "gain": nn.Parameter(torch.tensor(vector))}
    rates = [0.01, 0.02, 0.03, 0.0, 0.005]
    optimizer = AdamW(learning_rate=0.01, beta1=0.8, beta2=0.9, weight_decay=0.5).make(parameters.items())
    first = {key: np.zeros(p.shape) for key, p in parameters.items()}
    second = {key: np.zeros(p.shape) for key, p in parameters.items()}
    expected = {"matrix": matrix.copy(), "gain": vector.copy()}
    for t, rate in enumerate(rates, start=1):
        for key, decay in (("matrix", 0.5), ("gain", 0.0)):  # a vector does not decay
            gradient = random.standard_normal(expected[key].shape)
            parameters[key].grad = torch.tensor(gradient)
            first[key] = 0.8 * first[key] + 0.2 * gradient
            second[key] = 0.9 * second[key] + 0.1 * gradient**2
            step = first[key] / (1 - 0.8**t) / (np.sqrt(second[key] / (1 - 0.9**t)) + 1e-8)
            expected[key] -= rate * (step + decay * expected[key])
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.step()
    for key, parameter in parameters.items():
        np.testing.assert_allclose(parameter.detach(), expected[key], rtol=1e-10)


def test_the_defaults():
    assert family.defaults("optimizer", "adamw") == {
        "learning_rate": 3e-4,
        "beta1": 0.9,
        "beta2": 0.95,
        "weight_decay": 0.1,
    }


@pytest.mark.parametrize(
    ("key", "value", "allowed"),
    [
        ("learning_rate", -1.0, "above 0"),
        ("beta1", 1.0, "at least 0 and below 1"),
        ("beta2", -0.1, "at least 0 and below 1"),
        ("weight_decay", -0.5, "at least 0"),
    ],
)
def test_a_value_out_of_range_is_named(key: str, value: float, allowed: str):
    with pytest.raises(ValueError, match=rf"optimizer\.{key} = {value}: must be {allowed}"):
        AdamW(**{key: value})
