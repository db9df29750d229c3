"""One token per row, against softmax, against a plain sort, and against transformers' own processors."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from transformers.generation import logits_process as theirs

from onechange import picking
from onechange.sampling import Sampling


def pick(logits: np.ndarray, draw: float, temperature: float, top_k: int) -> int:
    """The choice of one row."""
    sampling = Sampling(temperature=temperature, top_k=top_k)
    return int(picking.pick(logits[None], np.array([draw]), sampling)[0])


@pytest.mark.parametrize(("temperature", "top_k"), [(1.0, 8), (0.5, 8), (2.0, 5), (0.7, 3), (1.0, 10**9)])
def test_choices_are_as_frequent_as_softmax_says(temperature: float, top_k: int) -> None:
    logits = np.array([0.3, -1.2, 2.0, 0.0, 1.1, -0.4, 0.9, -2.0], dtype=np.float32)
    draws = np.random.default_rng(1).random(20_000)
    sampling = Sampling(temperature=temperature, top_k=top_k)
    found = np.bincount(
        picking.pick(np.tile(logits, (len(draws), 1)), draws, sampling), minlength=len(logits)
    )
    allowed = np.argsort(logits)[::-1][:top_k]
    weights = np.exp(logits[allowed].astype(np.float64) / temperature)
    expected = len(draws) * weights / weights.sum()
    assert found.sum() == found[allowed].sum(), "only the top_k likeliest are ever chosen"
    assert stats.chisquare(found[allowed], expected).pvalue > 0.001


def test_the_choice_is_the_inverse_of_the_cumulative_distribution() -> None:
    logits = np.log(np.array([0.5, 0.25, 0.125, 0.125], dtype=np.float32))
    for draw, token in ((0.0, 0), (0.4999, 0), (0.5001, 1), (0.7499, 1), (0.7501, 2), (0.8751, 3)):
        assert pick(logits, draw, 1.0, 4) == token
    assert pick(logits, np.nextafter(1.0, 0.0), 1.0, 4) == 3


def test_ties_go_to_the_lower_id() -> None:
    logits = np.array([1.0, 3.0, 3.0, 2.0], dtype=np.float32)
    assert pick(logits, 0.99, 0, 4) == 1
    assert pick(logits, 0.99, 1.0, 1) == 1


@pytest.mark.parametrize("temperature", [1e-6, 1e-40, 1e-320])
def test_a_temperature_near_0_is_greedy(temperature: float) -> None:
    logits = np.array([-3e3, 40.0, 39.0, 7e3, -1e30], dtype=np.float32)
    for draw in (0.0, 0.3, 0.999):
        assert pick(logits, draw, temperature, 5) == 3


def test_a_huge_temperature_makes_all_alike() -> None:
    logits = np.array([-3.0, 40.0, 39.0, 7.0], dtype=np.float32)
    assert {pick(logits, draw, 1e300, 4) for draw in (0.1, 0.3, 0.6, 0.9)} == {0, 1, 2, 3}


# --- all rows at once -----------------------------------------------------------------------------------------------


def chosen(logits: np.ndarray, draw: float, allowed: dict[int, float]) -> int:
    """The token that ``draw`` picks among ids with probabilities: a plain walk from the likeliest down."""
    reached = 0.0
    order = sorted(allowed, key=lambda number: (-float(logits[number]), number))
    for number in order:
        reached += allowed[number]
        if draw < reached:
            return number
    return order[-1]


def theirs_of(scores: np.ndarray, written: list[list[int]], sampling: Sampling) -> np.ndarray:
    """The probabilities by which transformers would draw, its processors in the order in which `generate` has them."""
    some = [
        theirs.RepetitionPenaltyLogitsProcessor(sampling.repetition_penalty),
        theirs.TemperatureLogitsWarper(sampling.temperature),
        theirs.TopKLogitsWarper(sampling.top_k),
        *([theirs.TopPLogitsWarper(sampling.top_p)] if sampling.top_p < 1 else []),
        *([theirs.MinPLogitsWarper(sampling.min_p)] if sampling.min_p > 0 else []),
    ]
    rows = []
    for row, ids in zip(torch.from_numpy(scores).double(), written, strict=True):
        found = row[None]
        for one in some:
            found = one(torch.tensor([ids], dtype=torch.long), found)
        rows.append(found.softmax(-1))
    return torch.cat(rows).numpy()


SETTINGS = [
    Sampling(),
    Sampling(temperature=1.0, top_k=400),
    Sampling(temperature=1.3, top_k=400, top_p=0.9),
    Sampling(temperature=0.8, top_k=50, top_p=0.6),
    Sampling(temperature=1.5, top_k=400, min_p=0.05),
    Sampling(temperature=1.5, top_k=20, top_p=0.95, min_p=0.1),
    Sampling(temperature=0.9, top_k=400, repetition_penalty=1.8),
    Sampling(temperature=1.1, top_k=100, top_p=0.8, min_p=0.02, repetition_penalty=0.7),
    Sampling(temperature=1.0, top_k=1, top_p=0.01, min_p=1.0),
]


@pytest.mark.parametrize("sampling", SETTINGS, ids=range(len(SETTINGS)))
def test_what_may_follow_and_how_likely_is_what_transformers_says(sampling: Sampling) -> None:
    chance = np.random.default_rng(5)
    scores = (3 * chance.normal(size=(16, 400))).astype(np.float32)
    written = [chance.integers(0, 400, size=length).tolist() for length in range(1, 17)]
    marks = np.zeros(scores.shape, bool)
    for row, ids in enumerate(written):
        marks[row, ids] = True
    expected = theirs_of(scores, written, sampling)
    penalised = picking.penalised(scores, marks, sampling.repetition_penalty)
    ids, weights = picking.candidates(penalised, sampling)
    found = np.zeros_like(expected)
    np.put_along_axis(found, ids, weights / weights.sum(axis=1, keepdims=True), axis=1)
    assert ((found > 0) == (expected > 0)).all(), "the same tokens are kept"
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(picking.shares(scores, sampling, marks), expected, rtol=1e-6, atol=1e-9)
    draws = chance.random(len(scores))
    picked = picking.pick(scores, draws, sampling, marks)
    for row, number in enumerate(picked):
        allowed = {int(one): float(expected[row, one]) for one in np.flatnonzero(expected[row])}
        assert number == chosen(penalised[row], float(draws[row]), allowed)


few = st.sampled_from([-2.0, -0.5, 0.0, 0.25, 3.0])


@given(st.lists(st.lists(few, min_size=12, max_size=12), min_size=1, max_size=4), st.integers(1, 14))
def test_the_likeliest_are_those_of_a_stable_sort(rows: list[list[float]], top_k: int) -> None:
    """Scores with many ties, through the pass that inserts."""
    scores = np.array(rows, dtype=np.float32)
    ids, _ = picking.candidates(scores, Sampling(top_k=top_k))
    assert ids.tolist() == np.argsort(-scores, axis=1, kind="stable")[:, :top_k].tolist()


def test_many_candidates_are_sorted_as_few_are_inserted(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = np.random.default_rng(2).integers(0, 40, size=(3, 500)).astype(np.float32)
    inserted, _ = picking.candidates(scores, Sampling(top_k=200))
    monkeypatch.setattr(picking, "MOST_BY_INSERTION", 1)
    assert (picking.candidates(scores, Sampling(top_k=200))[0] == inserted).all()


def test_a_score_that_is_no_number_is_never_chosen() -> None:
    scores = np.array([[np.nan, 1.0, np.nan, 2.0], [0.5, np.nan, -np.inf, 0.0]], dtype=np.float32)
    assert picking.pick(scores, np.array([0.999, 0.999]), Sampling(top_k=2, temperature=1.0)).tolist() == [
        1,
        3,
    ]
    assert picking.pick(scores, np.zeros(2), Sampling(temperature=0)).tolist() == [3, 0]


def test_a_penalty_turns_the_greedy_choice_and_leaves_the_scores_alone() -> None:
    scores = np.array([[2.0, 1.5, -1.0], [-1.0, -1.5, -9.0]], dtype=np.float32)
    before, written = scores.copy(), np.array([[True, False, False], [True, False, False]])
    greedy = Sampling(temperature=0, repetition_penalty=2.0)
    assert picking.pick(scores, np.zeros(2), greedy, written).tolist() == [1, 1]
    assert picking.shares(scores, greedy, written).tolist() == [[0, 1, 0], [0, 1, 0]]
    assert (scores == before).all()
