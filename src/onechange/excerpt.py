"""The piece of validation text that a report may show, character by character."""

from collections.abc import Sequence
from itertools import islice

ABOUT = 1_500
"""Characters: as many whole stories as go into this are shown, one at least."""
MOST = 3_000
"""Characters of a first story that is longer than that: it is cut."""


def length(story_characters: Sequence[int]) -> int:
    """Characters of the piece, given those of every story with the separator after it."""
    total = 0
    for characters in islice(story_characters, ABOUT):
        if total and total + characters > ABOUT:
            break
        total += int(characters)
    return min(total, MOST)


def text(stories: Sequence[str], separator: str) -> str:
    """The piece itself: the first of ``stories``, each with ``separator`` after it; empty if there are none."""
    first = [story + separator for story in islice(stories, ABOUT)]
    return "".join(first)[: length([len(story) for story in first])]
