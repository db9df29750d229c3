"""Activations computed anew instead of kept: the same gradients bit for bit, and far less to hold."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from killed_runs import recipe
from onechange.engine import Engine

SIZES = {"layers": 4, "width": 32, "window": 32}


def batch() -> tuple[Tensor, Tensor]:
    tokens = torch.arange(4 * 33).view(4, 33) % 20
    return tokens[:, :-1], tokens[:, 1:]


def gradients(**changed: Any) -> dict[str, Tensor]:
    engine = Engine(recipe(**SIZES, **changed), 20)
    engine._gradients(3, *batch())
    found = {name: p.grad for name, p in engine.model.named_parameters() if p.grad is not None}
    assert found.keys() == dict(engine.model.named_parameters()).keys()
    return found


@pytest.mark.parametrize("micro_batch", [0, 3])
@pytest.mark.parametrize("dropout", [0.0, 0.3])
@pytest.mark.parametrize("precision", ["float32", "bf16"])
def test_gradients_are_the_same_bit_for_bit(micro_batch: int, dropout: float, precision: str):
    same: dict[str, Any] = {"micro_batch": micro_batch, "dropout": dropout, "precision": precision}
    kept = gradients(**same)
    anew = gradients(**same, activations="recompute")
    for name, value in kept.items():
        assert value.abs().max() > 0, name
        assert torch.equal(value, anew[name]), name


def held_for_gradients(**changed: Any) -> int:
    """Bytes that a forward pass keeps, each piece of memory once, weights apart.

    What is recomputed is not kept; the input of each block, which is, is counted by hand.
    """
    engine = Engine(recipe(**SIZES, **changed), 20)
    weights = {p.untyped_storage().data_ptr() for p in engine.model.parameters()}
    kept: dict[int, Tensor] = {}

    def keep(value: Tensor) -> Tensor:
        kept.setdefault(value.untyped_storage().data_ptr(), value)  # held, so that no other gets its place
        return value

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda value: value):
        loss = engine.nats(*batch()).mean()
    inputs = SIZES["layers"] * 4 * SIZES["window"] * SIZES["width"] * 4
    total = sum(v.untyped_storage().nbytes() for place, v in kept.items() if place not in weights)
    loss.backward()
    return total + (inputs if changed.get("activations") == "recompute" else 0)


def test_far_less_is_held():
    kept = held_for_gradients()
    # A block keeps its input, two normalised inputs, queries, keys, values, attention's output, the stream between,
    # and the MLP's two times four: 16 times its input.
    assert kept > 16 * SIZES["layers"] * 4 * SIZES["window"] * SIZES["width"] * 4
    assert held_for_gradients(activations="recompute") < kept / 6


def test_an_evaluation_computes_nothing_twice():
    engine = Engine(recipe(**SIZES, activations="recompute"), 20)
    calls: list[int] = []
    for block in engine.model.blocks:
        block.register_forward_pre_hook(lambda *given: calls.append(1))
    engine.evaluated(*batch())
    assert len(calls) == 4
    calls.clear()
    engine._gradients(1, *batch())
    assert len(calls) == 8


@pytest.mark.long
@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("dropout", [0.0, 0.3])
def test_compiled_blocks_are_computed_anew_too(dropout: float):
    kept = gradients(compile=True, dropout=dropout)
    torch._dynamo.utils.counters.clear()
    anew = gradients(compile=True, dropout=dropout, activations="recompute")
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] > 0, "it must be compiled to be a test"
    for name, value in kept.items():
        np.testing.assert_allclose(value, anew[name], atol=1e-7, err_msg=name)
