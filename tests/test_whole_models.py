"""Whole models are those of transformers: the same weights give the same scores and the same gradients."""

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.func import functional_call

import foreign_weights
from foreign_models import PAIRS, Pair
from onechange.engine import Surprise

CLOSE = 1e-5
"""The largest difference, as a share of the largest score, or of the largest gradient of a weight."""


@pytest.fixture(params=PAIRS, scope="module")
def pair(request: pytest.FixtureRequest) -> tuple[Pair, nn.Module]:
    pair = PAIRS[request.param]
    return pair, pair.theirs()


def drawn(rows: int, time: int) -> Tensor:
    return torch.from_numpy(np.random.default_rng(time).integers(0, 37, (rows, time)))


def read(pair: Pair, theirs: nn.Module) -> dict[str, Tensor]:
    return foreign_weights.weights(pair.table, dict(theirs.named_parameters()), pair.sizes)


def off(found: Tensor, expected: Tensor) -> float:
    return float((found - expected).abs().max() / expected.abs().max())


@torch.no_grad()
@pytest.mark.parametrize(("rows", "time"), [(1, 1), (3, 2), (2, 13), (4, 24)])
def test_scores_are_theirs(pair: tuple[Pair, nn.Module], rows: int, time: int):
    described, theirs = pair
    ours, tokens = described.ours(), drawn(rows, time)
    ours.load_state_dict(read(described, theirs))
    expected = theirs(tokens).logits
    assert expected.dtype == torch.float32 and expected.std() > 0.5
    assert off(ours.logits(ours(tokens)), expected) < CLOSE


def test_gradients_are_theirs(pair: tuple[Pair, nn.Module]):
    """Of all their weights that are read: ours are a function of them."""
    described, theirs = pair
    tokens, targets = drawn(3, 24), drawn(3, 25)[:, 1:]
    known = {
        key: value
        for key, value in theirs.named_parameters()
        if key in foreign_weights.names(described.table, described.sizes)
    }
    scores = theirs(tokens).logits
    expected = torch.autograd.grad(
        torch.nn.functional.cross_entropy(scores.flatten(0, 1), targets.flatten()), list(known.values())
    )
    ours = {f"model.{key}": value for key, value in read(described, theirs).items()}
    nats = functional_call(Surprise(described.ours(), compiled=False), ours, (tokens, targets))
    found = torch.autograd.grad(nats.mean(), list(known.values()))
    for name, mine, other in zip(known, found, expected, strict=True):
        assert other.abs().max() > 0, name
        assert off(mine, other) < CLOSE, name


@torch.no_grad()
def test_another_model_would_be_noticed(pair: tuple[Pair, nn.Module]):
    described, theirs = pair
    ours, tokens = described.ours(**described.wrong), drawn(4, 24)
    ours.load_state_dict(read(described, theirs), strict=False)  # what is wrong may have no weights
    assert off(ours.logits(ours(tokens)), theirs(tokens).logits) > 10 * CLOSE


def test_what_is_left_out_are_biases_and_attention_to_another_text(pair: tuple[Pair, nn.Module]):
    described, theirs = pair
    all_names = {key for key, _ in theirs.named_parameters()}
    assert foreign_weights.names(described.table, described.sizes) <= all_names
    left = all_names - foreign_weights.names(described.table, described.sizes)
    assert all(key.endswith("bias") or ".layer.1." in key for key in left), left
    assert read(described, theirs).keys() == dict(described.ours().named_parameters()).keys()
