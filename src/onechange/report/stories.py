"""The stories that the arms wrote, with what was found in them marked in their text."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any

from onechange.report.marked_text import Part, Span, marked
from onechange.report.study import POINTS, Arm, Point, Study
from onechange.stories.measures import COPY
from onechange.stories.repetition import PHRASE


@dataclass(frozen=True)
class Kind:
    """What may be marked: where a line of samples has it, and what a reader is told."""

    key: str
    word: str
    note: str
    counted: tuple[str, str]
    """One, and several of them."""


KINDS: dict[str, Kind] = {
    "copied": Kind(
        "copies",
        "copied",
        f"{COPY} characters or more, word for word in the training text too",
        ("passage copied", "passages copied"),
    ),
    "repeated": Kind(
        "repeated",
        "repeated",
        f"{PHRASE} words or more that the story has said before",
        ("passage repeated", "passages repeated"),
    ),
    "unknown": Kind(
        "unknown",
        "no word",
        "neither in the training text nor in the beginning",
        ("word that is no word", "words that are no words"),
    ),
}
"""The outermost first."""
NOTHING = "(no beginning was given)"
"""Stands in the place of an empty prompt."""


@dataclass(frozen=True)
class Sample:
    """What one arm wrote after one prompt.

    ``counts`` says how many passages of each of `KINDS` are marked; None where the line that was read has no marks.
    """

    arm: Arm
    point: Point
    step: int | None
    text: str
    parts: tuple[Part, ...]
    counts: dict[str, int] | None
    longest_copy: int
    cut: bool

    @property
    def counted(self) -> list[tuple[str, str, str]]:
        """Of each kind its name, how many there are, and the words for so many."""
        return [
            (kind, f"{number}" if number else "no", KINDS[kind].counted[number != 1])
            for kind, number in (self.counts or {}).items()
        ]

    @property
    def remarks(self) -> list[str]:
        """What else is to be said of it."""
        found = [] if self.counts is not None else ["not marked: written by an earlier version"]
        if self.longest_copy:
            found.append(f"longest copy {self.longest_copy:,} character{'s' * (self.longest_copy != 1)}")
        return [*found, "cut where its budget ended"] if self.cut else found


@dataclass(frozen=True)
class Prompt:
    """One prompt and the samples of every arm that has one, by checkpoint."""

    text: str
    samples: dict[Point, list[Sample]]


def prompts(study: Study, seed: int) -> list[Prompt]:
    """The samples of the runs with ``seed``, grouped by prompt, in the study's order."""
    lines: dict[tuple[str, Point], list[Sample]] = {}
    order = list(dict.fromkeys(str(text) for text in study.record.get("prompts") or []))
    for arm in study.arms:
        for point in POINTS:
            for line in study.samples(arm, seed, point):
                sample = _sample(arm, point, line)
                lines.setdefault((line["prompt"], point), []).append(sample)
                if line["prompt"] not in order:
                    order.append(line["prompt"])
    found = [Prompt(text, {point: lines.get((text, point), []) for point in POINTS}) for text in order]
    return [prompt for prompt in found if any(prompt.samples.values())]


def any_marked(found: Sequence[Prompt]) -> bool:
    """Whether a reader needs to know what the marks mean."""
    shown = chain.from_iterable(chain.from_iterable(prompt.samples.values()) for prompt in found)
    return any(sample.counts is not None for sample in shown)


def _sample(arm: Arm, point: Point, line: dict[str, Any]) -> Sample:
    text, marks = line["text"], line.get("marks")
    passages: dict[str, list[Span]] = {}
    if marks is not None:
        passages = {kind: marks[KINDS[kind].key] for kind in KINDS}
        where = f"samples/{point}.jsonl of {arm.name}"
        for spans in (*passages.values(), [marks.get("longest_copy") or (0, 0)]):
            _check(spans, len(text), where)
    low, high = (marks or {}).get("longest_copy") or (0, 0)
    return Sample(
        arm=arm,
        point=point,
        step=line.get("step"),
        text=text,
        parts=marked(text, passages),
        counts=None if marks is None else {kind: len(spans) for kind, spans in passages.items()},
        longest_copy=high - low,
        cut=line.get("ended") is False,
    )


def _check(spans: Sequence[Span], length: int, where: str) -> None:
    """A `ValueError` where spans lie outside of a text of ``length`` characters, or across each other."""
    edges = [0, *chain.from_iterable(spans), length]
    if any(left > right for left, right in pairwise(edges)):
        raise ValueError(f"{where} is damaged: marks lie outside of their text, or across each other")
