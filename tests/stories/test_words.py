"""How a validation story becomes one to be measured, and what its words are."""

import pytest

from onechange.stories.story import Story, real
from onechange.stories.words import words

NAMES = frozenset({"Lucy", "O'Brien"})


def test_real_stories_are_cut_as_samples_are():
    stories = ["Once upon a  time\nthere was", "Two words", "One two three four", "a b c d", "a b \n"]
    assert real(stories, 2, 8) == [
        Story("Once upon", " a  time", False),
        Story("One two", " three f", False),
        Story("a b", " c d", True),
    ]
    assert real(["a b c d e"], 2, 6) == [Story("a b", " c d e", True)]
    assert real(["a bc"], 0, 3) == [Story("", "a b", False)]


@pytest.mark.parametrize(
    ("prompt_words", "characters", "said"), [(-1, 5, "prompt_words = -1"), (3, 0, "characters = 0")]
)
def test_a_budget_that_makes_no_sense_is_told(prompt_words, characters, said):
    with pytest.raises(ValueError, match=said):
        real(["a b"], prompt_words, characters)


def test_words_of_prompt_and_text():
    found = words(Story("Lucy had a ki", "te. Lucy's ta", False), NAMES)
    assert found.written == ("Lucy", "had", "a", "kite", "Lucy's")
    assert found.folded == ("lucy", "had", "a", "kite", "lucy's")
    assert found.spans == ((-13, -9), (-8, -5), (-4, -3), (-2, 2), (4, 10))
    assert found.names == ("Lucy", None, None, None, "Lucy")
    assert (found.first, found.count) == (3, 2)
    assert [found.clipped(3, 4), found.clipped(3, 5)] == [(0, 2), (0, 10)]


@pytest.mark.parametrize(("count", "last"), [(0, 0), (2, 0), (3, 1), (5, 1), (6, 2), (100, 33)])
def test_the_last_third_is_no_more_than_a_third(count, last):
    found = words(Story("one two", " a" * count, True), NAMES)
    assert len(found.written) - found.last_third == last
