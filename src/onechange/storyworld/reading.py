"""Reading a story: the machine run backwards, from the text to every set of choices that could have made it.

Depth first, trying only the ways whose text agrees with the story's; the search does not stop at the first success,
so one reading found is a proof that there is no second.
"""

import math
from dataclasses import dataclass

from onechange.storyworld.machine import Fork, Point, advance, beginning
from onechange.storyworld.steps import Choice

AHEAD = 7
"""How many letters `advance` wants to know."""

Trace = tuple["Trace", int, float] | None


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to have told a text: the choices in order, and their log-probability in nats."""

    choices: tuple[int, ...]
    log_probability: float


def read(start: Choice, text: str) -> list[Reading]:
    """All readings of ``text``; none where it is no story of this world."""
    found: list[Reading] = []
    open_points: list[tuple[Point, int, Trace]] = [(beginning(start), 0, None)]
    while open_points:
        point, position, trace = open_points.pop()
        while True:
            step = advance(point, text[position : position + AHEAD])
            if step is None:
                if position == len(text):
                    found.append(_reading(trace))
                break
            if isinstance(step, Fork):
                for number in step.numbers:
                    shown, following = step.take(number)
                    if text.startswith(shown, position):
                        term = math.log(step.menu.weights[number] / step.total)
                        open_points.append((following, position + len(shown), (trace, number, term)))
                break
            if not text.startswith(step.text, position):
                break
            position += len(step.text)
            point = step.point
    return found


def log_probability(readings: list[Reading]) -> float | None:
    """The log-probability of the text that has these readings, in nats: log Σ p over them, `None` for none."""
    if not readings:
        return None
    top = max(reading.log_probability for reading in readings)
    return top + math.log(math.fsum(math.exp(reading.log_probability - top) for reading in readings))


def _reading(trace: Trace) -> Reading:
    choices: list[int] = []
    terms: list[float] = []
    while trace is not None:
        trace, number, term = trace
        choices.append(number)
        terms.append(term)
    return Reading(tuple(reversed(choices)), math.fsum(terms))
