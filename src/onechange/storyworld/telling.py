"""Telling a story: the machine run with random numbers, every choice counted."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from onechange.storyworld.machine import Fork, Point, advance, beginning
from onechange.storyworld.steps import Choice


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
            number = found.menu.pick(found.numbers, uniform() * found.total)
            choices.append(number)
            terms.append(math.log(found.menu.weights[number] / found.total))
            text, point = found.take(number)
            if text:
                pieces.append((text, found.place))
        else:
            pieces.append((found.text, found.place))
            point = found.point
    text = "".join(text for text, _ in pieces)
    return Story(text, tuple(choices), math.fsum(terms), tuple(pieces))
