"""Telling a story: the machine run with random numbers, every choice counted."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from onechange.storyworld.grammar import Choice
from onechange.storyworld.machine import Fork, Point, Way, advance, beginning


@dataclass(frozen=True, slots=True)
class Story:
    """A text with the choices that made it."""

    text: str
    choices: tuple[int, ...]
    """Which way was taken at each choice, in order."""
    log_probability: float
    """Σ log p of the choices, in nats."""
    pieces: tuple[tuple[str, str], ...]
    """(text, place in the story files) of everything said, in order."""


def tell(start: Choice, uniform: Callable[[], float]) -> Story:
    """One story; ``uniform`` gives numbers in [0, 1), one for each choice."""
    choices: list[int] = []
    terms: list[float] = []
    pieces: list[tuple[str, str]] = []
    point: Point = beginning(start)
    while (found := advance(point)) is not None:
        if isinstance(found, Fork):
            way = _pick(found, uniform())
            choices.append(way.number)
            terms.append(math.log(way.weight / found.total))
            if way.text:
                pieces.append((way.text, found.place))
            point = way.point
        else:
            pieces.append((found.text, found.place))
            point = found.point
    text = "".join(text for text, _ in pieces)
    return Story(text, tuple(choices), math.fsum(terms), tuple(pieces))


def _pick(fork: Fork, uniform: float) -> Way:
    left = uniform * fork.total
    for way in fork.ways:
        left -= way.weight
        if left < 0:
            return way
    raise AssertionError(f"{fork.place}: no way on, or a number that is not below 1")
