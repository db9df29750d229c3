"""Batches by hand. What they owe to fairness stands in `test_laws.py`."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onechange import windows
from onechange.encoding import SPAN, Encoding, landmarks
from onechange.token_table import token_table
from onechange.windows import Windows


def text(lengths: list[int]) -> Encoding:
    """Tokens 0, 1, 2, … of the given lengths."""
    count, total = len(lengths), sum(lengths)
    table = token_table([b"a" * length for length in lengths])
    return Encoding(
        ids=np.arange(count),
        tokens=table,
        landmarks=landmarks([np.arange(count)], table),
        characters=total,
        bytes=total,
        story_tokens=np.array([count]),
        story_characters=np.array([total]),
        story_bytes=np.array([total]),
    )


@pytest.fixture
def starts(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The places where rows start, for a test to fill in."""
    places: list[int] = []
    monkeypatch.setattr(windows, "places", lambda seed, step, rows, characters: np.array(places[:rows]))
    return places


def test_a_row_starts_at_the_first_token_at_or_after_its_place(starts: list[int]):
    starts += [0, 1, 2, 3, 4, 9, 10]  # tokens start at 0, 3, 4 and 9; the text ends at 11
    found = Windows(text([3, 1, 5, 2]), 0, 7, 2)
    assert found.first_tokens(1).tolist() == [0, 1, 1, 1, 2, 3, 0]


def test_targets_are_the_tokens_after_and_the_text_is_a_ring(starts: list[int]):
    starts += [4, 10]
    tokens, targets, held = Windows(text([3, 1, 5, 2]), 0, 2, 3).batch(1)
    assert tokens.tolist() == [[2, 3, 0], [0, 1, 2]]
    assert targets.tolist() == [[3, 0, 1], [1, 2, 3]]
    assert held == (2 + 3 + 1) + (1 + 5 + 2)


def test_a_text_shorter_than_a_window_is_read_again_and_again(starts: list[int]):
    starts += [0]
    tokens, targets, held = Windows(text([1, 2]), 0, 1, 5).batch(1)
    assert (tokens.tolist(), targets.tolist(), held) == (
        [[0, 1, 0, 1, 0]],
        [[1, 0, 1, 0, 1]],
        2 + 1 + 2 + 1 + 2,
    )


class Plain:
    """Windows as they were first defined: a table of where every token starts, searched from end to end."""

    def __init__(self, lengths: np.ndarray) -> None:
        self.starts = np.concatenate(([0], lengths.cumsum()[:-1]))
        self.lengths, self.count, self.characters = lengths, len(lengths), int(lengths.sum())

    def batch(self, seed: int, step: int, rows: int, window: int) -> tuple[list[int], int]:
        places = windows.places(seed, step, rows, self.characters)
        first = np.searchsorted(self.starts, places) % self.count
        at = (first[:, None] + np.arange(window + 1)) % self.count
        return at.tolist(), int(self.lengths[at[:, 1:]].sum())


@st.composite
def long_texts(draw: Any) -> np.ndarray:
    """Token lengths, few or several spans of landmarks, around the spans' ends too."""
    count = draw(st.one_of(st.integers(1, 40), st.integers(-2, 2).map(lambda n: 2 * SPAN + n), st.just(5000)))
    longest, seed = draw(st.sampled_from([1, 2, 9])), draw(st.integers(0, 99))
    return np.random.default_rng(seed).integers(1, longest + 1, count)


@given(lengths=long_texts(), seed=st.integers(0, 9), step=st.integers(1, 10_000), window=st.integers(1, 70))
def test_batches_are_those_of_a_full_table_of_starts(lengths: np.ndarray, seed: int, step: int, window: int):
    tokens, targets, held = Windows(text(lengths.tolist()), seed, 5, window).batch(step)
    at, expected_held = Plain(lengths).batch(seed, step, 5, window)
    assert [[*row, last] for row, last in zip(tokens.tolist(), targets[:, -1].tolist(), strict=True)] == at
    assert (tokens.dtype, targets.dtype, held) == (np.int64, np.int64, expected_held)
    assert np.array_equal(targets[:, :-1], tokens[:, 1:])


@given(lengths=long_texts())
def test_every_place_finds_the_first_token_at_or_after_it(lengths: np.ndarray):
    found, starts = text(lengths.tolist()), Plain(lengths).starts
    ends = starts[SPAN - 2 :: SPAN].tolist() + starts[::SPAN].tolist()
    near = {place + by for place in ends for by in (-1, 0, 1)} | {found.characters - 1}
    for place in sorted(near & set(range(found.characters))):
        assert found.first_token(place) == np.searchsorted(starts, place)


def test_a_text_of_one_token():
    tokens, targets, held = Windows(text([4]), 0, 2, 3).batch(1)
    assert (tokens.any(), targets.any(), held) == (np.False_, np.False_, 24)


def test_no_text_is_told():
    with pytest.raises(ValueError, match=r"the training text is empty: .*at least one training story"):
        Windows(text([]), 0, 1, 4)


@pytest.mark.parametrize("characters", [1, 2, 3, 74, 1_600_743, 2**40])
def test_places_are_within_the_text(characters: int, monkeypatch: pytest.MonkeyPatch):
    assert windows.places(0, 1, 1000, characters).max() < characters

    class Largest:
        def random(self, rows: int) -> np.ndarray:
            return np.full(rows, np.nextafter(1.0, 0.0))

    monkeypatch.setattr(windows, "stream", lambda *_: Largest())
    assert windows.places(0, 1, 3, characters).tolist() == [characters - 1] * 3
