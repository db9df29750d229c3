"""Tokens spelled out, against the definition: for every character all tokens of the vocabulary are looked at."""

import math
from itertools import pairwise

import hypothesis.strategies as st
import numpy as np
import pytest
import torch
from hypothesis import given

from onechange import spelling
from onechange.spelling import Spelling
from small_models import small_model, uniform_model

RNG = np.random.default_rng(3)


def by_definition(tokens: list[str], likely: np.ndarray, token: int) -> list[float]:
    """The surprise at every character of one token, with the probabilities of all."""

    def sum_of(beginning: str) -> float:
        return math.fsum(p for text, p in zip(tokens, likely, strict=True) if text.startswith(beginning))

    text = tokens[token]
    sums = [math.fsum(likely), *(sum_of(text[: k + 1]) for k in range(len(text)))]
    found = [-math.log(after / before) for before, after in pairwise(sums)]
    found[-1] -= math.log(likely[token] / sums[-1])
    return found


def spelled(tokens: list[str], ids: list[int], seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The surprises at the characters of ``ids``, those at the tokens, and the probabilities, of a strong model.

    All numbers are quarters, so that scores are exact in whatever order they are added up.
    """
    model = small_model(len(tokens), 8, seed=seed)
    features = torch.randn(len(ids), 16, generator=torch.Generator().manual_seed(seed)).mul(12).round() / 4
    with torch.no_grad():
        model.embedding.copy_(model.embedding.mul(4).round() / 4)
        likely = torch.softmax(model.logits(features).double(), -1).numpy()
    nats = -np.log(likely[np.arange(len(ids)), ids])
    found = Spelling(tokens).surprises(model, features, np.array(ids, dtype=np.int64), nats)
    return found, nats, likely


def test_a_hand_count() -> None:
    """a, b and ab, equally likely: two of three begin with a, and one of those two goes on."""
    model = uniform_model(3, 8)
    features, nats = torch.zeros(3, 16), np.full(3, math.log(3))
    found = Spelling(["a", "b", "ab"]).surprises(model, features, np.array([2, 0, 1]), nats)
    np.testing.assert_allclose(found, [math.log(1.5), math.log(2), math.log(3), math.log(3)], rtol=1e-6)


@given(st.sets(st.text("ab𝄞é", min_size=1, max_size=6), min_size=2, max_size=40), st.data())
def test_every_character_is_as_the_definition_says(vocabulary: set[str], data: st.DataObject) -> None:
    tokens = data.draw(st.permutations(sorted(vocabulary)))
    ids = data.draw(st.lists(st.integers(0, len(tokens) - 1), min_size=1, max_size=12))
    found, nats, likely = spelled(tokens, ids, data.draw(st.integers(0, 3)))
    expected = [value for row, token in enumerate(ids) for value in by_definition(tokens, likely[row], token)]
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    lengths = [len(tokens[token]) for token in ids]
    np.testing.assert_allclose(
        np.add.reduceat(found, np.cumsum([0, *lengths[:-1]])), nats, rtol=1e-12, atol=1e-12
    )
    assert found.min() > -1e-12


def test_the_figures_do_not_depend_on_how_many_tokens_are_read_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tokens = ["a", "b", "ab", "abc", "abb", "c", "ca"]
    ids = [int(number) for number in RNG.integers(0, len(tokens), 50)]
    whole, _, _ = spelled(tokens, ids)
    monkeypatch.setattr(spelling, "_PROBABILITIES", 3 * len(tokens))
    few, _, _ = spelled(tokens, ids)
    assert few.tolist() == whole.tolist()


def test_a_token_of_a_hundred_thousand_letters_takes_no_longer_than_its_text() -> None:
    tokens = ["a" * 2**power for power in range(18)]
    found, nats, likely = spelled(tokens, [17, 0, 3])
    assert len(found) == 2**17 + 1 + 8
    # Every token begins with a; each time as many letters more, one token fewer is left.
    beginnings = np.array([likely[0, power:].sum() for power in range(18)])
    places = [0, *(2**power for power in range(17))]
    expected = -np.diff(np.log(np.append([1.0], beginnings)))
    np.testing.assert_allclose(found[places[1:]], expected[1:], rtol=1e-6, atol=1e-9)
    assert np.count_nonzero(np.abs(found[: 2**17]) > 1e-12) <= 18
    assert found[: 2**17].sum() == pytest.approx(nats[0], rel=1e-12)


def test_of_characters_nothing_is_computed() -> None:
    model = small_model(3, 8)
    nats = np.array([1.0, 2.0])
    none = torch.full((2, 16), torch.nan)  # features that would spoil whatever looked at them
    assert Spelling(["a", "b", "c"]).surprises(model, none, np.array([0, 2]), nats).tolist() == [1.0, 2.0]
