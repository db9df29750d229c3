"""A story as it is measured: a prompt and what follows it, whether a model wrote that or a person."""

import re
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Story:
    """What was written after a prompt."""

    prompt: str
    """What was given; may be empty."""
    text: str
    """What follows it at once, blanks included: without the separator that ends a story, cut at a budget of
    characters. May be empty."""
    ended: bool
    """Whether the story came to its own end; if not, it was cut."""


def real(stories: Sequence[str], prompt_words: int, characters: int) -> list[Story]:
    """``stories`` of a corpus, cut as samples are: the reference that a model's stories are set beside.

    The first ``prompt_words`` words, parted by white space, are the prompt. The text is what follows, ``characters``
    characters of it at most. Stories of which nothing is left are left out. Raises a `ValueError` for a negative
    number of words, or a budget below one character.
    """
    if prompt_words < 0:
        raise ValueError(f"prompt_words = {prompt_words}: must be at least 0")
    if characters < 1:
        raise ValueError(f"characters = {characters}: must be at least 1")
    beginning = re.compile(rf"(?:\s*\S+){{{prompt_words}}}")
    found = []
    for story in stories:
        if (prompt := beginning.match(story)) and (rest := story[prompt.end() :]).strip():
            found.append(Story(prompt.group(), rest[:characters], len(rest) <= characters))
    return found
