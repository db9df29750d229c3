"""The words of a story, its prompt's before its text's.

Words are those of `onechange.kinds`. They are found in prompt and text together, so that a word which begins in the
prompt and ends in the text is one word, and the text's. Where a story was cut, a word that reaches the cut may be
the beginning of a longer one: it is left out.
"""

from dataclasses import dataclass

from onechange import kinds
from onechange.kinds import KINDS
from onechange.stories.story import Story

_NAME = KINDS.index("names")


@dataclass(frozen=True)
class Words:
    """All of the same length, a word each: those before ``first`` are the prompt's, the others the text's."""

    written: tuple[str, ...]
    """As the story writes them."""
    folded: tuple[str, ...]
    """Case-folded, which is how they are compared."""
    spans: tuple[tuple[int, int], ...]
    """Where each begins and ends, in characters of the story's *text*; what lies in the prompt is below 0."""
    names: tuple[str | None, ...]
    """The name that a word is, without an "'s" behind it; None for any other word."""
    first: int

    @property
    def count(self) -> int:
        """How many words the text has."""
        return len(self.written) - self.first

    @property
    def last_third(self) -> int:
        """Which word the last third of the text begins with: its last ⌊n / 3⌋ of n words."""
        return len(self.written) - self.count // 3

    def clipped(self, word: int, end: int) -> tuple[int, int]:
        """Where the words from ``word`` to before ``end`` stand in the text, in characters."""
        return max(0, self.spans[word][0]), self.spans[end - 1][1]


def words(story: Story, names: frozenset[str]) -> Words:
    """The words of ``story``. ``names`` are those that `onechange.kinds.names` finds in a text."""
    whole, before = story.prompt + story.text, len(story.prompt)
    places = kinds.words(whole)
    if places and not story.ended and places[-1][1] == len(whole):
        places.pop()
    is_name = kinds.of(whole, names) == _NAME
    written = tuple(whole[start:end] for start, end in places)
    return Words(
        written=written,
        folded=tuple(word.casefold() for word in written),
        spans=tuple((start - before, end - before) for start, end in places),
        names=tuple(
            whole[start : start + int(is_name[start:end].sum())] if is_name[start] else None
            for start, end in places
        ),
        first=sum(end <= before for _, end in places),
    )
