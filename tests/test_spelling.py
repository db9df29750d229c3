"""Tokens spelled out, against the definition: for every byte all tokens of the vocabulary are looked at."""

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


def by_definition(tokens: list[bytes], likely: np.ndarray, token: int) -> list[float]:
    """The surprise at every byte of one token, with the probabilities of all."""

    def sum_of(beginning: bytes) -> float:
        return math.fsum(p for text, p in zip(tokens, likely, strict=True) if text.startswith(beginning))

    text = tokens[token]
    sums = [math.fsum(likely), *(sum_of(text[: k + 1]) for k in range(len(text)))]
    found = [-math.log(after / before) for before, after in pairwise(sums)]
    found[-1] -= math.log(likely[token] / sums[-1])
    return found


def spelled(tokens: list[bytes], ids: list[int], seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The surprises at the characters of ``ids``, the first for the one before them; those at the tokens; and the
    probabilities, of a strong model.

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
    found = Spelling([b"a", b"b", b"ab"]).surprises(model, features, np.array([2, 0, 1]), nats)
    np.testing.assert_allclose(found, [0, math.log(1.5), math.log(2), math.log(3), math.log(3)], rtol=1e-6)


def by_characters(tokens: list[bytes], likely: np.ndarray, ids: list[int]) -> list[float]:
    """The same of every character of ``ids``: a byte like 0b10xxxxxx goes on with the one before."""
    sums = [[0.0]]
    for row, token in enumerate(ids):
        for byte, value in zip(tokens[token], by_definition(tokens, likely[row], token), strict=True):
            if byte & 0b1100_0000 == 0b1000_0000:
                sums[-1].append(value)
            else:
                sums.append([value])
    return [math.fsum(values) for values in sums]


whole = st.text("ab𝄞é", min_size=1, max_size=6).map(str.encode)
parts = st.lists(
    st.sampled_from([b"a", b"\xc3", b"\xa9", b"\xf0", b"\x9d\x84", b"\x9e", b"\x84"]), min_size=1
).map(lambda found: b"".join(found)[:9])


@given(st.sets(whole | parts, min_size=2, max_size=40), st.data())
def test_every_character_is_as_the_definition_says(vocabulary: set[bytes], data: st.DataObject) -> None:
    tokens = data.draw(st.permutations(sorted(vocabulary)))
    ids = data.draw(st.lists(st.integers(0, len(tokens) - 1), min_size=1, max_size=12))
    found, nats, likely = spelled(tokens, ids, data.draw(st.integers(0, 3)))
    np.testing.assert_allclose(found, by_characters(tokens, likely, ids), rtol=1e-9, atol=1e-12)
    assert math.fsum(found) == pytest.approx(math.fsum(nats), rel=1e-12)
    assert found.min() > -1e-12


@given(st.sets(whole, min_size=2, max_size=40), st.data())
def test_the_characters_of_a_token_add_up_to_it(vocabulary: set[bytes], data: st.DataObject) -> None:
    tokens = data.draw(st.permutations(sorted(vocabulary)))
    ids = data.draw(st.lists(st.integers(0, len(tokens) - 1), min_size=1, max_size=12))
    found, nats, _ = spelled(tokens, ids)
    lengths = [len(tokens[token].decode()) for token in ids]
    sums = np.add.reduceat(found[1:], np.cumsum([0, *lengths[:-1]]))
    np.testing.assert_allclose(sums, nats, rtol=1e-12, atol=1e-12)


def test_the_figures_do_not_depend_on_how_many_tokens_are_read_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tokens = [b"a", b"b", b"ab", b"abc", b"abb", b"c", b"ca", b"\xc3", b"\xa9b", b"\xc3\xa9a"]
    ids = [int(number) for number in RNG.integers(0, len(tokens), 50)]
    whole, _, _ = spelled(tokens, ids)
    monkeypatch.setattr(spelling, "_PROBABILITIES", 3 * len(tokens))
    few, _, _ = spelled(tokens, ids)
    assert few.tolist() == whole.tolist()


def test_a_token_of_a_hundred_thousand_letters_takes_no_longer_than_its_text() -> None:
    tokens = [b"a" * 2**power for power in range(18)]
    before, nats, likely = spelled(tokens, [17, 0, 3])
    found = before[1:]
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
    tokens = [b"a", "中".encode(), "😀".encode()]
    assert Spelling(tokens).surprises(model, none, np.array([0, 2]), nats).tolist() == [0.0, 1.0, 2.0]


def test_of_bytes_nothing_is_computed_either_and_those_of_a_character_are_added_up() -> None:
    model, none = small_model(5, 8), torch.full((5, 16), torch.nan)
    tokens = [b"a", b"\xe4", b"\xb8", b"\xad", b"b"]
    nats = np.array([0.5, 1.0, 2.0, 4.0, 8.0])
    found = Spelling(tokens).surprises(model, none, np.array([3, 1, 2, 3, 4]), nats)
    assert found.tolist() == [0.5, 7.0, 8.0], "the first byte belongs to a character before"
