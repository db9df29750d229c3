"""Parting cleaned documents into training, validation and, where it is asked for, test text."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

EVERY = 10
"""Of so many documents one, the last, is validation text."""
RULE = "every tenth document"
MOST_TEST = 0.5
"""The largest share of the text that may be put aside for a test."""
_BREAKS = (r"\n\s*\n", r"\n", r"(?<=[.!?…])\s", r"\s")

Part = Literal["training", "validation", "test"]


@dataclass(frozen=True)
class Parts:
    """The documents of each part, and by which rule they were parted."""

    training: tuple[str, ...]
    validation: tuple[str, ...]
    rule: str
    notes: list[str] = field(default_factory=list)
    test: tuple[str, ...] = ()


class Rule:
    """Which part a document belongs to, by its number: what is validation text does not depend on ``test``.

    Every tenth document is validation text. The share ``test`` of all documents is test text, spread evenly over the
    others: with 0.1 it is the 9th, 19th, 29th, …
    """

    def __init__(self, test: float) -> None:
        share = Fraction(repr(float(test))) * EVERY / (EVERY - 1)
        self._numerator, self._denominator = share.as_integer_ratio()
        self.words = f"{RULE}; for the test {test:.4g} of all, evenly among the others" if test else RULE

    def part(self, number: int) -> Part:
        """The part of document ``number``, counted from 1."""
        if number % EVERY == 0:
            return "validation"
        among = number - number // EVERY
        before, after = ((at * self._numerator) // self._denominator for at in (among - 1, among))
        return "test" if after > before else "training"


def check_test(share: float) -> None:
    """A `ValueError` unless ``share`` can be put aside for a test."""
    if not 0 <= share <= MOST_TEST:
        raise ValueError(f"corpus.test = {share}: must be from 0 (no test text) to {MOST_TEST} of all text")


def split(documents: Sequence[str], test: float = 0.0) -> Parts:
    """Every tenth document (the 10th, 20th, …) to validation, as long as there are ten; `Rule` says which to the test.

    Of two to nine documents the last one becomes validation, and there is nothing to spare for a test. A single
    document is one running text: about its last tenth becomes validation, what stands before that becomes test text,
    parted at a paragraph, else a line, a sentence or a word. A `ValueError` says that there is too little for a test.
    """
    if len(documents) >= EVERY:
        rule = Rule(test)
        kept: dict[Part, list[str]] = {"training": [], "validation": [], "test": []}
        for number, text in enumerate(documents, 1):
            kept[rule.part(number)].append(text)
        if test and not kept["test"]:
            raise ValueError(f"corpus.test = {test}: of {len(documents)} documents that is none")
        training, validation, tested = (tuple(texts) for texts in kept.values())
        return Parts(training, validation, rule.words, test=tested)
    if len(documents) > 1:
        if test:
            raise ValueError(
                f"corpus.test = {test}: {len(documents)} documents are too few to put some aside; {EVERY} are needed"
            )
        note = f"only {len(documents)} documents: the last one alone is the validation text"
        return Parts(tuple(documents[:-1]), (documents[-1],), "the last document", [note])
    training, validation = part(documents[0])
    if not test:
        return Parts((training,), (validation,), "the last tenth of the text")
    if len(training) < 2:
        raise ValueError(f"corpus.test = {test}: the text is too short to put some of it aside")
    training, tested = part(training, test * EVERY / (EVERY - 1))
    rule = f"the last tenth of the text; for the test {test:.4g} of it, before that"
    return Parts((training,), (validation,), rule, test=(tested,))


def part(text: str, share: float = 1 / EVERY) -> tuple[str, str]:
    """One running text as two, the second about ``share`` of it; only white space at the cut is lost.

    ``text`` is stripped and has at least two characters. The cut is the paragraph's end nearest to that place, and no
    farther from there than a twentieth of the text; without one, the nearest end of a line, a sentence or a word.
    """
    assert len(text) >= 2 and text == text.strip()
    aim = min(max(round((1 - share) * len(text)), 1), len(text) - 1)
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
