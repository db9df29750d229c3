"""The choosing machine: from a point in a story to the next piece of text or the next choice.

The teller and the reader both run it. The teller picks one of the ways on, the reader tries those that the text
allows; what the ways are, and how likely, is decided here and nowhere else, so the two cannot disagree.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import NamedTuple

from onechange.storyworld.menu import Menu
from onechange.storyworld.notation import Literal, Mark
from onechange.storyworld.steps import Choice, Name, Option, Step
from onechange.storyworld.words import Word, article

Rest = tuple[tuple[Step, ...], int, "Rest | None"]
"""What is still to be told: steps, the next one's number, and what comes after them."""


class Point(NamedTuple):
    """Where a story stands: what is still to come, the words known so far, what the next text needs done to it."""

    rest: Rest | None
    known: Mapping[str, Word]
    marks: frozenset[Mark]


class Way(NamedTuple):
    """One way on: the text it shows at once (often none yet), and where it leads."""

    text: str
    point: Point


class Fork(NamedTuple):
    """A choice: the ways by number, their weights on the menu, and ``take`` to go one of them.

    A way's probability is its weight over ``total``, the weight of all allowed ways, whether listed or not.
    """

    total: int
    numbers: Sequence[int]
    menu: Menu
    take: Callable[[int], Way]
    place: str


class Said(NamedTuple):
    """Text without a choice."""

    text: str
    place: str
    point: Point


NONE: frozenset[Mark] = frozenset()


def beginning(start: Choice) -> Point:
    """The point before the first choice."""
    return Point(((start,), 0, None), {}, NONE)


def state(point: Point) -> Hashable:
    """Equal for points from which the same stories follow; holds for as long as the grammar lives."""
    rest, known, marks = point
    frames: list[int] = []
    while rest is not None:
        steps, number, rest = rest
        if number < len(steps):
            frames += (id(steps), number)
    return (
        tuple(frames),
        frozenset((variable, word.text, word.tags) for variable, word in known.items()),
        marks,
    )


def upcoming(point: Point) -> tuple[Literal | Choice | Name, Rest, frozenset[Mark]] | None:
    """The next step that says or chooses something, what comes after it, the marks on its text; ``None`` at the end."""
    rest, _, marks = point
    while rest is not None:
        steps, number, after = rest
        if number == len(steps):
            rest = after
            continue
        step, rest = steps[number], (steps, number + 1, after)
        if not isinstance(step, Mark):
            return step, rest, marks
        marks = marks | {step}
    return None


def advance(point: Point, ahead: str | None = None) -> Said | Fork | None:
    """The next text or choice after ``point``; ``None`` at the story's end.

    Where the text that follows is known, the first letters of it (``ahead``, seven are enough) leave ways out of a
    fork that cannot lead there.
    """
    found = upcoming(point)
    if found is None:
        return None
    step, rest, marks = found
    known = point.known
    if isinstance(step, Literal):
        return Said(marked(step.text, marks), step.place, Point(rest, known, NONE))
    if isinstance(step, Choice):
        return _options(step, rest, known, marks, ahead)
    if step.variable in known:
        text = known[step.variable].form(step.form)
        return Said(marked(text, marks), step.place, Point(rest, known, NONE))
    return _words(step, rest, known, marks, ahead)


def _options(
    step: Choice, rest: Rest, known: Mapping[str, Word], marks: frozenset[Mark], ahead: str | None
) -> Fork:
    options, total = step.options, step.menu.total
    numbers = step.menu.numbers(unmarked(ahead, marks))
    if step.guarded:
        total = sum(option.weight for option in options if fits(option, known))
        numbers = [number for number in numbers if fits(options[number], known)]
    return Fork(
        total, numbers, step.menu, lambda n: Way("", Point((options[n].steps, 0, rest), known, marks)), ""
    )


def _words(
    step: Name, rest: Rest, known: Mapping[str, Word], marks: frozenset[Mark], ahead: str | None
) -> Fork:
    words, menu = step.domain.menu(step.form, known)
    genders = step.domain.genders(known)
    used = {word.text for word in known.values()}
    numbers = [
        number
        for number in menu.numbers(unmarked(ahead, marks))
        if words[number].text not in used and (not genders or words[number].tags & genders)
    ]

    def take(number: int) -> Way:
        point = Point(rest, {**known, step.variable: words[number]}, NONE)
        return Way(marked(menu.leads[number], marks), point)

    return Fork(step.domain.total(menu, genders, used), numbers, menu, take, step.place)


def fits(option: Option, known: Mapping[str, Word]) -> bool:
    guard = option.guard
    if guard is None:
        return True
    word = known.get(guard.variable)
    if guard.tag == "known":
        return (word is not None) == guard.wanted
    assert word is not None, f"a guard asks for {guard.variable!r} before it is known"
    return (guard.tag in word.tags) == guard.wanted


def marked(text: str, marks: frozenset[Mark]) -> str:
    if not marks:
        return text
    if Mark.ARTICLE in marks:
        text = f"{article(text)} {text}"
    return text[0].upper() + text[1:] if Mark.CAPITAL in marks else text


def unmarked(ahead: str | None, marks: frozenset[Mark]) -> str | None:
    if ahead is None or Mark.ARTICLE not in marks:
        return ahead
    return ahead.partition(" ")[2]
