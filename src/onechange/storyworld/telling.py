"""Telling a story: the machine run with random numbers, every choice counted."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from onechange.storyworld.grammar import Choice
from onechange.storyworld.machine import Fork, Point, advance, beginning


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
            total = sum(way.weight for way in found.ways)
            assert total > 0, f"no way on after {''.join(text for text, _ in pieces)!r}"
            left = uniform() * total
            for number, way in enumerate(found.ways):
                left -= way.weight
                if left < 0:
                    break
            else:
                raise AssertionError("uniform() must be below 1")
            choices.append(number)
            terms.append(math.log(way.weight / total))
            if way.text:
                pieces.append((way.text, found.place))
            point = way.point
        else:
            pieces.append((found.text, found.place))
            point = found.point
    text = "".join(text for text, _ in pieces)
    return Story(text, tuple(choices), math.fsum(terms), tuple(pieces))
