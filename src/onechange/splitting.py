"""Parting cleaned documents into training and validation text."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

EVERY = 10
"""Of so many documents one, the last, is validation text."""
RULE = "every tenth document"
_BREAKS = (r"\n\s*\n", r"\n", r"(?<=[.!?…])\s", r"\s")


@dataclass(frozen=True)
class Parts:
    """Training and validation documents, and by which rule they were parted."""

    training: tuple[str, ...]
    validation: tuple[str, ...]
    rule: str
    notes: list[str] = field(default_factory=list)


def split(documents: Sequence[str]) -> Parts:
    """Every tenth document (the 10th, 20th, …) to validation, as long as there are ten.

    Of two to nine documents the last one becomes validation. A single document is one running text: about its
    last tenth becomes validation, parted at a paragraph, else a line, a sentence or a word.
    """
    if len(documents) >= EVERY:
        return Parts(
            training=tuple(text for number, text in enumerate(documents, 1) if number % EVERY),
            validation=tuple(documents[EVERY - 1 :: EVERY]),
            rule=RULE,
        )
    if len(documents) > 1:
        note = f"only {len(documents)} documents: the last one alone is the validation text"
        return Parts(tuple(documents[:-1]), (documents[-1],), "the last document", [note])
    training, validation = part(documents[0])
    return Parts((training,), (validation,), "the last tenth of the text")


def part(text: str) -> tuple[str, str]:
    """One running text as two, about nine to one; only white space at the cut is lost.

    ``text`` is stripped and has at least two characters. The cut is the paragraph's end nearest to nine
    tenths, and no farther from there than a twentieth of the text; without one, the nearest end of a line, a
    sentence or a word.
    """
    assert len(text) >= 2 and text == text.strip()
    aim = min(max(round(0.9 * len(text)), 1), len(text) - 1)
    reach = max(len(text) // 20, 1)
    low, high = max(aim - reach, 1), min(aim + reach, len(text) - 1)
    for pattern in _BREAKS:
        found = [match.start() for match in re.compile(pattern).finditer(text, low, high)]
        if found:
            aim = min(found, key=lambda place: abs(place - aim))
            break
    return text[:aim].rstrip(), text[aim:].lstrip()


def shorten(text: str, characters: int) -> str:
    """The beginning of ``text``, at least so many characters, ending with a whole word."""
    end = re.compile(r"\s").search(text, characters)
    return text[: end.start()].rstrip() if end else text
