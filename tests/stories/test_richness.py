"""Richness against all choices, tried one by one."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onechange.stories import richness
from onechange.stories.story import Story
from onechange.stories.words import words


def told(text):
    return words(Story("", " ".join(text), True), frozenset())


@given(st.lists(st.sampled_from("abcdefghij"), max_size=30))
def test_the_moving_average_is_that_of_all_stretches(text):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(richness, "STRETCH", 5)
        stretches = [len({*text[at : at + 5]}) for at in range(len(text) - 4)]
        found = richness.within(told(text))
    assert found == (pytest.approx(np.mean(stretches)) if stretches else None)


@given(st.lists(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=5), min_size=3, max_size=7))
def test_distinct_words_between_are_the_mean_over_all_choices(texts):
    """And the spread of the stories' parts is the jackknife's variance: with and without each story."""

    def mean(stories):
        return np.mean([len(set().union(*chosen)) for chosen in combinations(stories, 3)])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(richness, "STRETCH", 3)
        patch.setattr(richness, "TOGETHER", 3)
        found = richness.between([told(text) for text in texts])
    firsts = {number: set(text[:3]) for number, text in enumerate(texts) if len(text) >= 3}
    if (n := len(firsts)) <= 3:
        assert found == {}
        return
    assert found.keys() == firsts.keys()
    whole = mean(firsts.values())
    assert np.mean(list(found.values())) == pytest.approx(whole)
    for number, part in found.items():
        rest = [some for other, some in firsts.items() if other != number]
        assert part == pytest.approx(n * whole - (n - 1) * mean(rest))


def test_what_is_between_does_not_hang_on_the_number_of_stories():
    rng = np.random.default_rng(3)
    weights = 1 / np.arange(1, 401)

    def figure(stories):
        texts = rng.choice(400, (stories, 60), p=weights / weights.sum())
        letters = [[f"{chr(97 + word // 26)}{chr(97 + word % 26)}" for word in text] for text in texts]
        return np.mean(list(richness.between([told(text) for text in letters]).values()))

    assert figure(40) == pytest.approx(figure(400), rel=0.05)
