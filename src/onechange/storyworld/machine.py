"""The choosing machine: from a point in a story to the next piece of text or the next choice.

The teller and the reader both run it. The teller picks one of the ways on, the reader tries those that the text
allows; what the ways are, and how likely, is decided here and nowhere else, so the two cannot disagree.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from onechange.storyworld.grammar import Choice, Literal, Mark, Name, Option, Step
from onechange.storyworld.words import Word, article

Rest = tuple[tuple[Step, ...], int, "Rest | None"]
"""What is still to be told: steps, the next one's number, and what comes after them."""


class Point(NamedTuple):
    """Where a story stands: what is still to come, the words known so far, what the next text needs done to it."""

    rest: Rest | None
    known: Mapping[str, Word]
    marks: frozenset[Mark]


class Way(NamedTuple):
    """One way on: its weight, the text it shows at once (often none yet), and where it leads."""

    weight: int
    text: str
    point: Point


@dataclass(frozen=True, slots=True)
class Fork:
    """A choice. The probability of a way is its weight over the sum of all weights."""

    ways: list[Way]
    place: str = ""


class Said(NamedTuple):
    """Text without a choice."""

    text: str
    place: str
    point: Point


NONE: frozenset[Mark] = frozenset()


def beginning(start: Choice) -> Point:
    """The point before the first choice."""
    return Point(((start,), 0, None), {}, NONE)


def advance(point: Point) -> Said | Fork | None:
    """The next text or choice after ``point``; ``None`` at the story's end."""
    rest, known, marks = point
    while rest is not None:
        steps, number, after = rest
        if number == len(steps):
            rest = after
            continue
        step, rest = steps[number], (steps, number + 1, after)
        if isinstance(step, Literal):
            return Said(_marked(step.text, marks), step.place, Point(rest, known, NONE))
        if isinstance(step, Mark):
            marks = marks | {step}
        elif isinstance(step, Choice):
            options = step.options
            return Fork(
                [
                    Way(o.weight, "", Point((o.steps, 0, rest), known, marks))
                    for o in options
                    if _fits(o, known)
                ]
            )
        elif step.variable in known:
            text = known[step.variable].form(step.form)
            return Said(_marked(text, marks), step.place, Point(rest, known, NONE))
        else:
            return Fork(_words(step, rest, known, marks), step.place)
    return None


def _words(step: Name, rest: Rest, known: Mapping[str, Word], marks: frozenset[Mark]) -> list[Way]:
    variable, form = step.variable, step.form
    return [
        Way(word.weight, _marked(word.form(form), marks), Point(rest, {**known, variable: word}, NONE))
        for word in step.domain.allowed(known)
    ]


def _fits(option: Option, known: Mapping[str, Word]) -> bool:
    guard = option.guard
    if guard is None:
        return True
    word = known.get(guard.variable)
    if guard.tag == "known":
        return (word is not None) == guard.wanted
    assert word is not None, f"a guard asks for {guard.variable!r} before it is known"
    return (guard.tag in word.tags) == guard.wanted


def _marked(text: str, marks: frozenset[Mark]) -> str:
    if not marks:
        return text
    if Mark.ARTICLE in marks:
        text = f"{article(text)} {text}"
    return text[0].upper() + text[1:] if Mark.CAPITAL in marks else text
