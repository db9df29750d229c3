"""All measures of the stories of one checkpoint, from one pass over the training text."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Int32

from onechange.stories import endings, heroes, repetition, richness
from onechange.stories.copies import Copies, Span, joined, passages
from onechange.stories.measures import COPY, MEASURES
from onechange.stories.story import Story
from onechange.stories.unknown_words import WantedWords
from onechange.stories.words import Words, words

Number = int | float
AT_ONCE = 1 << 20
"""Characters of training text that are read at a time, unless one story has more."""
_NOTHING = (0, 0)


@dataclass(frozen=True)
class Counted:
    """One measure, story by story: the figure is Σ counts / Σ of. ``of`` is 0 where it does not apply."""

    counts: tuple[Number, ...]
    of: tuple[Number, ...]

    @property
    def figure(self) -> float | None:
        """None where the measure applies to no story."""
        return sum(self.counts) / of if (of := sum(self.of)) else None


@dataclass(frozen=True)
class Marks:
    """What may be marked in one story's text: where each passage begins and ends, in characters."""

    copies: tuple[Span, ...]
    """Stretches that lie in copies of `COPY` characters or more."""
    longest_copy: Span
    """Of several the first; empty where nothing is copied."""
    repeated: tuple[Span, ...]
    """Phrases of four words that stood in the story before."""
    loop: Span
    """The longest loop; empty where there is none."""
    unknown: tuple[Span, ...]
    """Words that stand neither in the training text nor in the prompt."""

    def to_json(self) -> dict[str, Any]:
        return {name: _lists(spans) for name, spans in vars(self).items()}


@dataclass(frozen=True)
class Measured:
    """What was found, in the order of the stories."""

    characters: int
    """Of all texts."""
    prompts: tuple[int, ...]
    """Which prompt each story continues, numbered in the order in which they come."""
    measures: dict[str, Counted]
    """By the names of `MEASURES`, in their order."""
    marks: tuple[Marks, ...]

    def to_json(self) -> dict[str, Any]:
        """All but the marks, which only stories that are shown need."""
        return {
            "stories": len(self.prompts),
            "characters": self.characters,
            "prompts": list(self.prompts),
            "measures": {
                name: {"counts": list(counted.counts), "of": list(counted.of)}
                for name, counted in self.measures.items()
            },
        }


def measured(
    stories: Sequence[Story], training: Iterable[str], separator: str, names: frozenset[str]
) -> Measured:
    """Every measure of ``stories``.

    ``training``: the stories of the training text, in the order in which they lie there, a ``separator`` behind each;
    they are read once, and memory does not grow with them. ``names``: those that `onechange.kinds.names` finds in a
    text. A `ValueError` where there is no story.
    """
    if not stories:
        raise ValueError("no stories are given; measures need at least one")
    said = [words(story, names) for story in stories]
    wanted = WantedWords(word for some in said for word in some.folded[some.first :])
    copies = Copies([story.text for story in stories])
    for batch in _batches(training):
        wanted.read(batch)
        copies.read("".join(f"{story}{separator}" for story in batch))
    missing = wanted.missing
    looked_at = [
        _looked_at(story, some, longest, missing)
        for story, some, longest in zip(stories, said, copies.longest(), strict=True)
    ]
    between = richness.between(said)
    rows = [
        row | {"distinct_words_between": _if_any(between.get(number))}
        for number, (row, _) in enumerate(looked_at)
    ]
    prompts = {
        prompt: number for number, prompt in enumerate(dict.fromkeys(story.prompt for story in stories))
    }
    return Measured(
        characters=sum(len(story.text) for story in stories),
        prompts=tuple(prompts[story.prompt] for story in stories),
        measures={name: Counted(*zip(*(row[name] for row in rows), strict=True)) for name in MEASURES},
        marks=tuple(marks for _, marks in looked_at),
    )


def _looked_at(
    story: Story, said: Words, longest: Int32[np.ndarray, " characters"], missing: frozenset[str]
) -> tuple[dict[str, tuple[Number, Number]], Marks]:
    """Of one story, each measure's count and what it is out of; and what may be marked."""
    hero, has_third = heroes.hero(said), said.count >= 3
    quotations = endings.quotations(story)
    copied = joined(passages(longest, COPY))
    copy_end = int(longest.argmax()) + 1 if len(longest) else 0
    copy = (copy_end - int(longest[copy_end - 1]), copy_end) if copy_end else (0, 0)
    loop = repetition.longest_loop(said)
    repeated = repetition.repeated(said)
    phrases = [(max(said.first, last + 1 - repetition.PHRASE), last + 1) for last in repeated]
    unheard = missing.difference(said.folded[: said.first])
    unknown = [word for word in range(said.first, len(said.folded)) if said.folded[word] in unheard]
    row = {
        "unknown_words": (len(unknown), said.count),
        "repeated_phrases": (len(repeated), repetition.phrases(said)),
        "longest_loop": (loop[1] - loop[0], 1),
        "hero_kept": (int(hero in heroes.late(said)), 1) if hero and has_third else _NOTHING,
        "new_names": (len(heroes.new(said)), 1) if has_third else _NOTHING,
        "quotes_left_open": (int(quotations.left_open > 0), 1) if quotations.ended else _NOTHING,
        "sentence_ends": (int(endings.ends_a_sentence(story)), 1) if story.ended else _NOTHING,
        "ended": (int(story.ended), 1),
        "length": (len(story.text), 1),
        "longest_copy": (copy[1] - copy[0], 1),
        "copied": (sum(end - start for start, end in copied), len(story.text)),
        "distinct_words": _if_any(richness.within(said)),
    }
    marks = Marks(
        copies=tuple(copied),
        longest_copy=copy,
        repeated=tuple(joined([said.clipped(*phrase) for phrase in phrases])),
        loop=said.clipped(*loop) if loop[1] else (0, 0),
        unknown=tuple(said.clipped(word, word + 1) for word in unknown),
    )
    return row, marks


def _if_any(figure: float | None) -> tuple[Number, Number]:
    return _NOTHING if figure is None else (figure, 1)


def _lists(spans: Span | tuple[Span, ...]) -> list[Any]:
    return [list(span) if isinstance(span, tuple) else span for span in spans]


def _batches(training: Iterable[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for story in training:
        batch.append(story)
        size += len(story)
        if size >= AT_ONCE:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
