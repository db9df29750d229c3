"""What a story says again: phrases that stood in it before, and loops."""

import numpy as np

from onechange.stories.words import Words

PHRASE = 4
"""Words of a phrase that is looked for again."""


def repeated(words: Words) -> list[int]:
    """With which of the words a phrase ends that stood in the story, or its prompt, before. Only phrases that end in
    the text."""
    seen, again = set(), []
    for end in range(PHRASE, len(words.folded) + 1):
        phrase = words.folded[end - PHRASE : end]
        if phrase in seen and end > words.first:
            again.append(end - 1)
        seen.add(phrase)
    return again


def phrases(words: Words) -> int:
    """How many phrases end in the text."""
    return max(0, len(words.folded) - max(words.first, PHRASE - 1))


def longest_loop(words: Words) -> tuple[int, int]:
    """The first and the last but one word of the longest stretch that is one phrase said at least twice in a row, the
    beginning of one more time included. What of it lies in the prompt is left out; ``(0, 0)`` where there is none."""
    numbers = {word: number for number, word in enumerate(dict.fromkeys(words.folded))}
    said = np.array([numbers[word] for word in words.folded])
    longest = (0, 0)
    for period in range(1, len(said) // 2 + 1):
        same = said[period:] == said[:-period]
        edges = np.flatnonzero(np.diff(same, prepend=False, append=False)).tolist()
        for start, end in zip(edges[::2], edges[1::2], strict=True):
            if end - start >= period:
                stretch = max(start, words.first), end + period
                if stretch[1] - stretch[0] > longest[1] - longest[0]:
                    longest = stretch
    return longest
