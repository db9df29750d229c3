"""What stories are made of: their sentences, and the template behind each.

A sentence's template is the place in the story files that wrote its last mark: file, line and the outermost
symbol of that line, however many inline choices and words that symbol holds. Two wordings of one inline
choice are therefore one template, and a share counted here errs on the high side.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable
from itertools import accumulate, pairwise

from onechange.storyworld.telling import Story

END = re.compile(r'[.!?]"?(?=\s+["A-Z0-9]|\s*$)', re.MULTILINE)
_WORD = re.compile(r"[a-z]+(?:['-][a-z]+)*")


def sentences(text: str) -> list[str]:
    """The sentences of a text, in order, as far as full stops and capitals show them."""
    ends = [0, *(found.end() for found in END.finditer(text))]
    return [text[start:end].strip() for start, end in pairwise(ends)]


def templates(story: Story) -> list[str]:
    """The template of each sentence of ``story``, in order."""
    starts = [0, *accumulate(len(text) for text, _ in story.pieces)]
    found: list[str] = []
    for end in END.finditer(story.text):
        piece = bisect_right(starts, end.start()) - 1
        found.append(f"{story.pieces[piece][1]}+{end.start() - starts[piece]}")
    return found


def template_shares(stories: Iterable[Story]) -> dict[str, float]:
    """Every template's share of all sentences, the most used first."""
    counts = Counter(template for story in stories for template in templates(story))
    total = counts.total()
    return {template: count / total for template, count in counts.most_common()}


def words(texts: Iterable[str]) -> set[str]:
    """The distinct words of the texts, upper and lower case alike."""
    return {word for text in texts for word in _WORD.findall(text.lower())}
