"""The stories that the arms wrote, with the passages that a story repeats marked in its text."""

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from onechange.report.study import POINTS, Arm, Point, Study

REPEATED_WORDS = 5
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


@dataclass(frozen=True)
class Piece:
    """A stretch of a sample, of its prompt or of what the model wrote, repeated in the sample or not."""

    text: str
    prompt: bool
    repeated: bool


@dataclass(frozen=True)
class Sample:
    """What one arm wrote after one prompt. ``passages`` counts the marked stretches."""

    arm: Arm
    point: Point
    step: int | None
    tokens: int | None
    pieces: tuple[Piece, ...]
    passages: int


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


def repeated(text: str, words: int = REPEATED_WORDS) -> list[tuple[int, int]]:
    """The passages that stand in ``text`` twice or more, as (start, end) in characters.

    A passage is ``words`` or more words in the same order, whatever the case and the punctuation
    between them.
    """
    spans = [match.span() for match in _WORD.finditer(text)]
    folded = [text[start:end].casefold() for start, end in spans]
    places: dict[tuple[str, ...], list[int]] = {}
    for at in range(len(folded) - words + 1):
        places.setdefault(tuple(folded[at : at + words]), []).append(at)
    marked = sorted(
        {at + more for ats in places.values() if len(ats) > 1 for at in ats for more in range(words)}
    )
    stretches: list[tuple[int, int]] = []
    for index, at in enumerate(marked):
        if index and marked[index - 1] == at - 1:
            stretches[-1] = (stretches[-1][0], spans[at][1])
        else:
            stretches.append(spans[at])
    return stretches


def _sample(arm: Arm, point: Point, line: dict[str, Any]) -> Sample:
    prompt, text = line["prompt"], line["prompt"] + line["text"]
    stretches = repeated(text)
    cuts = {0, len(prompt), len(text), *(edge for stretch in stretches for edge in stretch)}
    edges = sorted(cuts)
    pieces = [
        Piece(text[start:end], end <= len(prompt), any(low <= start < high for low, high in stretches))
        for start, end in pairwise(edges)
    ]
    return Sample(arm, point, line.get("step"), line.get("tokens"), tuple(pieces), len(stretches))
