"""Attention by distance: uniform attention counted by hand, a head's weights rewritten in float64."""

import numpy as np
import pytest
import torch

from onechange import attention_distance, family
from onechange.attention_distance import bins, by_distance
from onechange.first_weights import fill
from onechange.initialization.gpt2 import Gpt2Initialization
from onechange.model import Model
from onechange.settings import DEFAULTS
from onechange.sizes import Sizes
from small_models import small_model

VOCABULARY = 11


def ids(many: int) -> np.ndarray:
    return np.random.default_rng(3).integers(0, VOCABULARY, many)


def looked(model: Model, many: int) -> dict:
    found = by_distance(model, ids(many))
    assert found is not None
    return found


def test_bins_double_up_to_half_a_window() -> None:
    assert bins(16) == [(0, 1), (1, 2), (2, 3), (3, 5), (5, 9), (9, 16)]
    assert bins(100)[-2:] == [(17, 33), (33, 100)], "66 tokens back would not be in view of the 50th"
    assert (bins(1), bins(2), bins(3)) == ([(0, 1)], [(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 3)])


@pytest.mark.parametrize("window", [1, 2, 7, 16])
def test_a_head_that_looks_everywhere_alike_gives_each_bin_what_it_has_of_keys(window: int) -> None:
    model = small_model(VOCABULARY, window, position="none")
    with torch.no_grad():
        for name, weights in model.named_parameters():
            if name.endswith("attention.query.weight"):
                weights.zero_()
    found = looked(model, 5 * window)
    queries = range(window // 2, window)
    assert (found["windows"], found["queries"]) == (5, 5 * len(queries))
    for place, each in enumerate(found["bins"]):
        keys = [len(range(each["from"], min(each["to"], query + 1))) / (query + 1) for query in queries]
        for layer in found["shares"]:
            assert [head[place] for head in layer] == pytest.approx([np.mean(keys)] * 2, abs=1e-4)
    mean = np.mean([query / 2 for query in queries])
    assert found["distances"] == [[pytest.approx(mean, abs=0.01)] * 2] * 2


@torch.no_grad()
def test_the_first_layer_is_what_its_queries_and_keys_say() -> None:
    window, many = 12, 4
    model = small_model(VOCABULARY, window)
    found = looked(model, window * many + 5)
    weights = {name: value.double().numpy() for name, value in model.named_parameters()}
    projections = [weights[f"blocks.0.attention.{name}.weight"] for name in ("query", "key")]
    expected, farness = np.zeros((2, len(found["bins"]))), np.zeros(2)
    for text in ids(window * many + 5)[: window * many].reshape(many, window):
        x = weights["embedding"][text] + weights["position.table"]
        x = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
        query, key = (x @ each.T for each in projections)
        for head in range(2):
            own = slice(8 * head, 8 * head + 8)
            for at in range(window // 2, window):
                scores = key[: at + 1, own] @ query[at, own] / np.sqrt(8)
                looks = np.exp(scores - scores.max())
                looks /= looks.sum() * many * (window - window // 2)
                for before, weight in enumerate(looks[::-1]):
                    (place,) = [n for n, b in enumerate(found["bins"]) if b["from"] <= before < b["to"]]
                    expected[head, place] += weight
                    farness[head] += weight * before
    np.testing.assert_allclose(found["shares"][0], expected, atol=1e-4)
    np.testing.assert_allclose(found["distances"][0], farness, atol=0.01)
    assert np.ptp(expected) > 0.1, "the heads do prefer some distances"


def test_what_a_head_may_not_see_gets_nothing() -> None:
    parts = {name: family.resolve(name, DEFAULTS[name]) for name in family.MODEL_FAMILIES}
    parts["attention"] = family.resolve("attention", {"name": "heads", "sliding": 3})
    model = Model(Sizes(2, 2, 16, 16, VOCABULARY), parts)
    fill(model, 0, 2, Gpt2Initialization())
    for layer in looked(model, 64)["shares"]:
        for head in layer:
            assert sum(head[:3]) == pytest.approx(1, abs=2e-4)
            assert head[3:] == [0.0] * 3


def test_how_many_windows_are_read_at_once_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    model = small_model(VOCABULARY, 16, position="rope")
    together = looked(model, 200)
    monkeypatch.setattr(attention_distance, "_WEIGHTS_AT_ONCE", 1)
    np.testing.assert_allclose(looked(model, 200)["shares"], together["shares"], atol=1e-4)
    monkeypatch.setattr(attention_distance, "MOST_TOKENS", 50)
    assert looked(model, 200)["windows"] == 3


def test_a_text_that_fills_no_window_tells_nothing() -> None:
    assert by_distance(small_model(VOCABULARY, 16), ids(15)) is None
