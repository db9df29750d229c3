"""Gradient descent with momentum. Sutskever et al. 2013, equations 1 to 4."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from onechange import family
from onechange.optimizer.sgd import Sgd

turns = {
    "learning_rate": (0.5, 0.1),
    "momentum": (0.9, 0.5),
    "nesterov": (False, True),
    "weight_decay": (0.0, 0.01),
}
text_length = 24


@pytest.mark.parametrize("nesterov", [False, True])
def test_five_updates_by_hand(nesterov: bool):
    random = np.random.default_rng(0)
    expected = {"matrix": random.standard_normal((3, 4)), "gain": random.standard_normal(4)}
    parameters = {key: nn.Parameter(torch.tensor(value)) for key, value in expected.items()}
    member = Sgd(learning_rate=0.01, momentum=0.8, nesterov=nesterov, weight_decay=0.5)
    optimizer = member.make(parameters.items())
    velocity = {key: np.zeros(value.shape) for key, value in expected.items()}
    for rate in (0.01, 0.02, 0.03, 0.0, 0.005):
        for key, decay in (("matrix", 0.5), ("gain", 0.0)):  # a vector does not decay
            gradient = random.standard_normal(expected[key].shape)
            parameters[key].grad = torch.tensor(gradient)
            slope = gradient + decay * expected[key]
            velocity[key] = 0.8 * velocity[key] + slope
            expected[key] = expected[key] - rate * (
                slope + 0.8 * velocity[key] if nesterov else velocity[key]
            )
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.step()
    for key, parameter in parameters.items():
        np.testing.assert_allclose(parameter.detach(), expected[key], rtol=1e-10)


def test_nesterov_is_the_momentum_of_the_paper():
    """The gradient is taken where the velocity leads to: v ← μ v − ε ∇f(θ + μ v), θ ← θ + v, on f = θ² / 2.

    torch keeps the place θ + μ v in the place of θ.
    """
    ahead = nn.Parameter(torch.tensor([1.0], dtype=torch.float64))
    optimizer = Sgd(learning_rate=0.1, momentum=0.9, nesterov=True).make([("x", ahead)])
    place, velocity = 1.0, 0.0
    for _ in range(10):
        velocity = 0.9 * velocity - 0.1 * (place + 0.9 * velocity)
        place += velocity
        ahead.grad = ahead.detach().clone()
        optimizer.step()
        assert ahead.item() == pytest.approx(place + 0.9 * velocity, rel=1e-12)


def test_the_defaults():
    assert family.defaults("optimizer", "sgd") == {
        "learning_rate": 0.1,
        "momentum": 0.9,
        "nesterov": False,
        "weight_decay": 0.0,
    }


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"learning_rate": -1.0}, r"learning_rate = -1\.0: must be above 0"),
        ({"momentum": 1.0}, r"momentum = 1\.0: must be at least 0 and below 1"),
        (
            {"momentum": 0.0, "nesterov": True},
            r"momentum = 0\.0: must be above 0 where optimizer\.nesterov = true",
        ),
        ({"weight_decay": -0.5}, r"weight_decay = -0\.5: must be at least 0"),
    ],
)
def test_a_value_out_of_range_is_named(settings: dict[str, Any], message: str):
    with pytest.raises(ValueError, match=rf"optimizer\.{message}"):
        Sgd(**settings)
