"""Whether what a story begins comes to an end: its quotations, and its last sentence."""

import re
from dataclasses import dataclass

from onechange.stories.story import Story

_SENTENCE_END = re.compile(r"""[.!?…。！？]["'”’“»」』)\]]*\s*\Z""")


@dataclass(frozen=True)
class Quotations:
    """Of the paragraphs that end in a story's text: how many quotations have come to an end, and how many of these
    are left open. One that is open at the cut of a story that was cut has not come to its end."""

    ended: int
    left_open: int


def quotations(story: Story) -> Quotations:
    """Quotations in double quotes, straight or curly; a line is a paragraph."""
    ended = left_open = at = 0
    lines = (story.prompt + story.text).split("\n")
    for number, line in enumerate(lines):
        at += len(line)
        if at >= len(story.prompt):
            closed, opened, still = _marks(line)
            if not still or story.ended or number + 1 < len(lines):
                opened, still = opened + still, False
            ended += closed + opened
            left_open += opened
        at += 1
    return Quotations(ended, left_open)


def _marks(line: str) -> tuple[int, int, bool]:
    """How many quotations are closed, how many are not when the next one opens, and whether one is open at the end."""
    closed = left_open = 0
    by = ""
    for mark in line:
        if by and (mark in '"”' or (mark == "“" and by == "„")):
            closed, by = closed + 1, ""
        elif mark in '"“„':
            left_open, by = left_open + bool(by), mark
    return closed, left_open, bool(by)


def ends_a_sentence(story: Story) -> bool:
    """Whether a sign that ends sentences stands last, closing quotes and brackets behind it."""
    return bool(_SENTENCE_END.search(story.prompt + story.text))
