"""Muon: orthogonal updates of matrices, AdamW for the rest. Jordan et al. 2024; Liu et al. 2025, equation 4."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from onechange import family
from onechange.model import Model
from onechange.optimizer.muon import Muon
from onechange.sizes import Sizes
from small_models import usual_parts

turns = {
    "learning_rate": (1e-2, 3e-3),
    "momentum": (0.95, 0.8),
    "nesterov": (True, False),
    "iterations": (5, 3),
    "weight_decay": (0.1, 0.0),
    "beta1": (0.9, 0.8),
    "beta2": (0.95, 0.999),
}
text_length = 24

MATRIX = "blocks.0.mlp.hidden.weight"
SHAPES = {
    MATRIX: (24, 8),
    "blocks.0.attention.out.weight": (8, 8),
    "blocks.0.attention_norm.norm.gain": (8,),
    "embedding": (11, 8),
    "unembedding.weight": (11, 8),
    "position.table": (16, 8),
}
INSIDE = [key for key in SHAPES if key.startswith("blocks.") and key.endswith(".weight")]


def made(seed: int = 0, **settings: Any) -> tuple[dict[str, nn.Parameter], torch.optim.Optimizer]:
    random = np.random.default_rng(seed)
    parameters = {
        key: nn.Parameter(torch.from_numpy(random.normal(0, 0.02, shape)).float())
        for key, shape in SHAPES.items()
    }
    return parameters, Muon(**settings).make(parameters.items())


def orthogonal(matrix: np.ndarray, iterations: int = 5) -> np.ndarray:
    """Five steps of x ← a x + (b s + c s²) x with s = x xᵀ, as the post has them, in float64."""
    wide = matrix if matrix.shape[0] <= matrix.shape[1] else matrix.T
    x = wide / np.linalg.norm(wide)
    for _ in range(iterations):
        square = x @ x.T
        x = 3.4445 * x + (-4.7750 * square + 2.0315 * square @ square) @ x
    return x if matrix.shape[0] <= matrix.shape[1] else x.T


@pytest.mark.parametrize("nesterov", [True, False])
def test_matrices_are_updated_as_the_papers_say(nesterov: bool):
    parameters, optimizer = made(learning_rate=0.01, momentum=0.9, nesterov=nesterov, weight_decay=0.5)
    random = np.random.default_rng(1)
    expected = {key: parameters[key].detach().double().numpy().copy() for key in INSIDE}
    mean = {key: np.zeros(SHAPES[key]) for key in INSIDE}
    for rate in (0.01, 0.02, 0.0, 0.005):
        for key, parameter in parameters.items():
            gradient = random.standard_normal(SHAPES[key])
            parameter.grad = torch.from_numpy(gradient).float()
            if key in INSIDE:
                mean[key] = 0.9 * mean[key] + 0.1 * gradient
                direction = 0.1 * gradient + 0.9 * mean[key] if nesterov else mean[key]
                size = 0.2 * np.sqrt(max(SHAPES[key]))
                expected[key] *= 1 - rate * 0.5
                expected[key] -= rate * size * orthogonal(direction)
        for group in optimizer.param_groups:
            group["lr"] = rate
        before = {key: parameters[key].detach().clone() for key in INSIDE}
        optimizer.step()
        for key in INSIDE:
            moved = (parameters[key].detach() - before[key]).abs().max()
            assert (moved > 0) == (rate > 0)
    for key in INSIDE:  # torch iterates in bf16, which is a hundredth of an update here and there
        found = parameters[key].detach().double().numpy()
        assert np.linalg.norm(found - expected[key]) < 0.02 * np.linalg.norm(expected[key]), key


def test_an_update_has_the_size_of_one_of_adamw_whatever_the_shape():
    """Its singular values are about 1 before the factor, which makes a root mean square of 0.2 times the rate."""
    parameters, optimizer = made(learning_rate=1.0, weight_decay=0.0)
    before = {key: parameters[key].detach().clone() for key in INSIDE}
    for parameter in parameters.values():
        parameter.grad = torch.randn(parameter.shape, generator=torch.Generator().manual_seed(2))
    optimizer.step()
    for key in INSIDE:
        update = (parameters[key].detach() - before[key]).double()
        singular = torch.linalg.svdvals(update / (0.2 * max(SHAPES[key]) ** 0.5))
        assert singular.min() > 0.5 and singular.max() < 1.3, key
        assert update.square().mean().sqrt().item() == pytest.approx(0.2, rel=0.25), key


def test_all_else_is_moved_by_torch_s_adamw():
    parameters, optimizer = made(learning_rate=0.01, weight_decay=0.3, beta1=0.8, beta2=0.9)
    twins, _ = made()
    others = {key: p for key, p in twins.items() if key not in INSIDE}
    assert len(others) == 4
    theirs = torch.optim.AdamW(
        [
            {"params": [p for p in others.values() if p.ndim == 2], "weight_decay": 0.3},
            {"params": [p for p in others.values() if p.ndim == 1], "weight_decay": 0.0},
        ],
        lr=0.01,
        betas=(0.8, 0.9),
        fused=True,
    )
    random = torch.Generator().manual_seed(3)
    for rate in (0.01, 0.003, 0.02):
        for key, parameter in parameters.items():
            parameter.grad = torch.randn(parameter.shape, generator=random)
            twins[key].grad = parameter.grad.clone()
        for group in (*optimizer.param_groups, *theirs.param_groups):
            group["lr"] = rate
        optimizer.step()
        theirs.step()
    for key, parameter in others.items():
        assert torch.equal(parameters[key], parameter), key


def test_matrices_are_moved_by_torch_s_muon():
    parameters, optimizer = made(learning_rate=0.01, iterations=4)
    twins, _ = made()
    theirs = torch.optim.Muon(
        [twins[key] for key in INSIDE], lr=0.01, weight_decay=0.1, ns_steps=4, adjust_lr_fn="match_rms_adamw"
    )
    random = torch.Generator().manual_seed(3)
    for _ in range(3):
        for key, parameter in parameters.items():
            parameter.grad = torch.randn(parameter.shape, generator=random)
            twins[key].grad = parameter.grad.clone()
        optimizer.step()
        theirs.step()
    for key in INSIDE:
        assert torch.equal(parameters[key], twins[key]), key


def test_it_takes_every_matrix_of_every_block_and_nothing_else():
    model = Model(Sizes(2, 2, 8, 8, 11), usual_parts(embedding="untied"))
    names = {id(p): key for key, p in model.named_parameters()}
    optimizer = Muon().make(model.named_parameters())
    muon, tables, vectors = ([names[id(p)] for p in group["params"]] for group in optimizer.param_groups)
    assert set(muon) == {
        f"blocks.{block}.{part}.weight"
        for block in (0, 1)
        for part in (
            "attention.query",
            "attention.key",
            "attention.value",
            "attention.out",
            "mlp.hidden",
            "mlp.out",
        )
    }
    assert tables == ["embedding", "position.table", "unembedding.weight"]
    assert len(vectors) == 5 and all(name.endswith("norm.gain") for name in vectors)


def test_it_goes_on_after_torch_s_own_saving_and_loading():
    one, two = made(), made()
    for parameters, optimizer in (one, two):
        for parameter in parameters.values():
            parameter.grad = torch.ones_like(parameter)
        optimizer.step()
    two[1].load_state_dict(two[1].state_dict())
    for _, optimizer in (one, two):
        for group in optimizer.param_groups:
            group["lr"] = 0.5
        optimizer.step()
    for key in SHAPES:
        assert torch.equal(one[0][key], two[0][key]), key


def test_the_defaults():
    assert family.defaults("optimizer", "muon") == {
        "learning_rate": 3e-4,
        "momentum": 0.95,
        "nesterov": True,
        "iterations": 5,
        "weight_decay": 0.1,
        "beta1": 0.9,
        "beta2": 0.95,
    }


@pytest.mark.parametrize(
    ("key", "value", "allowed"),
    [
        ("learning_rate", -1.0, "above 0"),
        ("momentum", 1.0, "at least 0 and below 1"),
        ("iterations", 0, "at least 1 and below 100"),
        ("iterations", 100, "at least 1 and below 100"),
        ("beta1", 1.0, "at least 0 and below 1"),
        ("beta2", -0.1, "at least 0 and below 1"),
        ("weight_decay", -0.5, "at least 0"),
    ],
)
def test_a_value_out_of_range_is_named(key: str, value: Any, allowed: str):
    with pytest.raises(ValueError, match=rf"optimizer\.{key} = {value}: must be {allowed}"):
        Muon(**{key: value})
