"""Batches by hand. What they owe to fairness stands in `test_laws.py`."""

import numpy as np
import pytest

from onechange import windows
from onechange.encoding import Encoding
from onechange.windows import Windows


def text(lengths: list[int]) -> Encoding:
    """Tokens 0, 1, 2, … of the given lengths."""
    count, total = len(lengths), sum(lengths)
    return Encoding(
        ids=np.arange(count),
        starts=np.cumsum([0, *lengths])[:-1],
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
