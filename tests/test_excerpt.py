"""The piece of text that a report may show."""

import pytest

from onechange import excerpt


@pytest.mark.parametrize(
    ("lengths", "expected"),
    [
        ([], 0),
        ([100], 100),
        ([700, 700, 100, 1], 1500),
        ([700, 801, 1], 700),
        ([1501, 10], 1501),
        ([2000], 2000),
        ([9000, 1], 3000),
    ],
)
def test_as_many_whole_stories_as_fit_and_one_at_least(lengths: list[int], expected: int) -> None:
    assert excerpt.length(lengths) == expected
    stories = [str(number % 10) * (length - 2) for number, length in enumerate(lengths) if length > 2]
    if len(stories) == len(lengths):
        found = excerpt.text(stories, "\n\n")
        assert found == "".join(story + "\n\n" for story in stories)[:expected]


def test_the_separator_is_text_like_any_other() -> None:
    assert excerpt.text(["One.", "Two."], "--") == "One.--Two.--"
    assert excerpt.text([], "--") == ""
