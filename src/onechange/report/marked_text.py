"""Text with passages of several kinds marked in it, as a tree: a passage holds text and further passages."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

Span = Sequence[int]
"""From the first character of a passage to the one behind its last."""


@dataclass(frozen=True)
class Passage:
    """A stretch of text that is of one kind, and what is marked within it."""

    kind: str
    parts: tuple["Part", ...]


Part = str | Passage


def marked(text: str, passages: Mapping[str, Sequence[Span]]) -> tuple[Part, ...]:
    """``text`` with its ``passages``, those of one kind in order and apart from each other.

    Of two kinds the one named first is the outer one; a passage of the other that crosses its edge is cut there. So
    every character lies within the kinds that it is of, and nowhere else.
    """
    return tuple(_within(text, 0, len(text), list(passages.items())))


def plain(parts: Sequence[Part]) -> str:
    """The text without its marks."""
    return "".join(part if isinstance(part, str) else plain(part.parts) for part in parts)


def _within(text: str, start: int, end: int, kinds: list[tuple[str, Sequence[Span]]]) -> Iterator[Part]:
    if not kinds:
        if start < end:
            yield text[start:end]
        return
    (kind, spans), *inner = kinds
    at = start
    for low, high in ((max(start, low), min(end, high)) for low, high in spans):
        if low < high:
            yield from _within(text, at, low, inner)
            yield Passage(kind, tuple(_within(text, low, high, inner)))
            at = high
    yield from _within(text, at, end, inner)
