"""What every member of `initialization` must do. Members are found, not listed."""

import itertools
from typing import Any

import member_facts
import msgspec
import numpy as np
import pytest
import torch
from model_part import SIZES, USUAL

from onechange import family
from onechange.first_weights import fill
from onechange.initialization import Initialization
from onechange.model import Model
from onechange.seed import stream

pytestmark = pytest.mark.parametrize("name", family.members("initialization"))

TABLES = ("embedding", "position.table", "unembedding.weight")
MATRICES = ("blocks.0.attention.query.weight", "blocks.1.mlp.hidden.weight", "blocks.1.mlp.out.weight")


def built(name: str, **other: Any) -> Initialization:
    return family.build("initialization", member_facts.resolved("initialization", name, **other))


def drawn(
    rule: Initialization, key: str, shape: tuple[int, ...] = (6, 4), layers: int = 2, seed: int = 0
) -> np.ndarray:
    return rule.draw(key, shape, layers, stream(seed, "weights", key))


def filled(name: str, seed: int = 0, other: dict[str, str] | None = None) -> Model:
    members = {**USUAL, "embedding": "untied", **(other or {})}
    sizes = msgspec.structs.replace(SIZES, width=32)
    model = Model(sizes, {kind: family.resolve(kind, each) for kind, each in members.items()})
    fill(model, seed, sizes.layers, built(name))
    return model


@pytest.mark.parametrize("key", (*TABLES, *MATRICES))
def test_values_are_finite_and_spread_around_zero(name: str, key: str):
    values = drawn(built(name), key, (100, 64))
    assert values.shape == (100, 64) and np.isfinite(values).all()
    assert 0 < values.std() < 2
    assert abs(values.mean()) < 4 * values.std() / 80, "four standard errors of 6,400 values"


@pytest.mark.parametrize("key", (*TABLES, *MATRICES))
def test_values_follow_from_name_shape_layers_and_stream_alone(name: str, key: str):
    rule = built(name)
    first = drawn(rule, key)
    for other in (*TABLES, *MATRICES):
        drawn(rule, other, (3, 5), layers=7, seed=1)
    assert np.array_equal(drawn(rule, key), first)
    assert np.array_equal(drawn(built(name), key), first)
    assert not np.isclose(drawn(rule, key, seed=1), first).any()


@pytest.mark.parametrize("key", TABLES)
@pytest.mark.parametrize("seed", [0, 3])
def test_tables_agree_in_their_first_rows_whatever_the_number_of_rows(name: str, key: str, seed: int):
    """At width 100, since generators fill in chunks."""
    tables = [drawn(built(name), key, (rows, 100), seed=seed) for rows in (74, 79, 4096)]
    for one, two in itertools.combinations(tables, 2):
        assert np.array_equal(two[: len(one)], one)


def test_a_model_is_filled_whole_and_its_vectors_are_left_alone(name: str):
    torch.use_deterministic_algorithms(True)  # fills with NaN what torch.empty returns
    try:
        model = filled(name, other={"norm": "dynamic_tanh"})
    finally:
        torch.use_deterministic_algorithms(False)
    untouched = family.build("norm", family.resolve("norm", "dynamic_tanh"), model.sizes)
    for key, value in model.named_parameters():
        assert value.isfinite().all(), key
        if value.ndim < 2:
            assert torch.equal(value, untouched.get_parameter(key.rpartition(".")[2])), key


@pytest.mark.parametrize(
    ("kind", "other"),
    [("placement", "post"), ("embedding", "tied"), ("mlp", "swiglu"), ("norm", "rms"), ("position", "none")],
)
def test_parts_that_two_models_share_start_equal(name: str, kind: str, other: str):
    usual = dict(filled(name).named_parameters())
    changed = dict(filled(name, other={kind: other}).named_parameters())
    shared = [key for key in usual.keys() & changed.keys() if usual[key].shape == changed[key].shape]
    assert len([key for key in shared if usual[key].ndim > 1]) >= 8
    for key in shared:
        assert torch.equal(usual[key], changed[key]), key


def test_seeds_differ_in_every_matrix(name: str):
    one, two = dict(filled(name).named_parameters()), dict(filled(name, 1).named_parameters())
    for key in one:
        assert torch.equal(one[key], two[key]) == (one[key].ndim < 2), key


def test_every_setting_turns_something(name: str):
    for setting, (_, other) in member_facts.turns("initialization", name).items():
        changed = built(name, **{setting: other})
        assert any(not np.allclose(drawn(built(name), key), drawn(changed, key)) for key in MATRICES), setting


def test_a_wrong_setting_says_what_is_wrong(name: str):
    member_facts.wrong_settings_are_named("initialization", name)
