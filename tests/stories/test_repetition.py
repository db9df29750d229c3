"""Repeated phrases and loops against plain search."""

from hypothesis import given
from hypothesis import strategies as st

from onechange.stories import repetition
from onechange.stories.story import Story
from onechange.stories.words import words

some_words = st.lists(st.sampled_from("abc"), max_size=18)


def told(prompt, text):
    return words(Story(" ".join(prompt), " ".join(["", *text]), True), frozenset())


@given(some_words, some_words)
def test_phrases_that_stood_there_before(prompt, text):
    said, all_said = told(prompt, text), [*prompt, *text]
    ends = [end for end in range(len(prompt), len(all_said)) if end >= 3]
    phrase = {end: all_said[end - 3 : end + 1] for end in range(3, len(all_said))}
    assert repetition.phrases(said) == len(ends)
    assert repetition.repeated(said) == [
        end for end in ends if any(phrase[before] == phrase[end] for before in range(3, end))
    ]


@given(some_words, some_words)
def test_no_loop_is_longer(prompt, text):
    """Every stretch in which each word is the one a period before it, two periods long or more."""
    said, all_said = told(prompt, text), [*prompt, *text]
    start, end = repetition.longest_loop(said)
    n = len(all_said)
    loops = [
        (max(a, len(prompt)), b)
        for a in range(n)
        for b in range(a + 2, n + 1)
        for period in range(1, (b - a) // 2 + 1)
        if all(all_said[at] == all_said[at - period] for at in range(a + period, b))
    ]
    assert end - start == max([0, *(b - a for a, b in loops)])
    assert (start, end) in [*loops, (0, 0)]
