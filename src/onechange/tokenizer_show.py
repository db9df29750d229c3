"""How a tokenizer splits a text: as figures, and in colours with the spaces visible."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Any

from rich.cells import cell_len
from rich.text import Text

from onechange import notebook
from onechange.tokenizer import Tokenizer

VISIBLE = {" ": "·", "\n": "↵\n", "\t": "→\t", "\r": "␍"}
"""How whitespace is written in colours. A line still ends where it ends."""

COLOURS = ("black on yellow", "black on cyan", "black on green", "black on magenta")
"""One after the other, so that neighbouring tokens differ; every terminal that has colours has these."""
BAR = "│"


@dataclass(frozen=True, repr=False)
class Split:
    """A text as tokens: their texts and their ids, in the order of the text."""

    text: str
    tokens: tuple[str, ...]
    ids: tuple[int, ...]

    @property
    def characters_per_token(self) -> float | None:
        """Characters of the text over tokens; None for an empty text."""
        return len(self.text) / len(self.ids) if self.ids else None

    def to_json(self) -> dict[str, Any]:
        """The split as JSON values."""
        return {
            "text": self.text,
            "tokens": list(self.tokens),
            "ids": list(self.ids),
            "token_count": len(self.ids),
            "characters": len(self.text),
            "characters_per_token": self.characters_per_token,
        }

    def __repr__(self) -> str:
        return f"Split({marked(self)!r})"

    def _repr_html_(self) -> str:
        return notebook.split([*map(visible, self.tokens)], self.ids, len(self.text))


def split(tokenizer: Tokenizer, text: str) -> Split:
    """``text`` as ``tokenizer`` splits it. A `ValueError` lists characters outside the alphabet."""
    ids = tokenizer.encode(text).tolist()
    texts = tokenizer.tokens()
    return Split(text, tuple(texts[number] for number in ids), tuple(ids))


def listed(tokens: Iterable[str]) -> str:
    """Tokens in a line, their spaces visible."""
    return f" {BAR} ".join(visible(token).replace("\n", "") for token in tokens)


def remarks(tokenizer: Tokenizer) -> list[str]:
    """The tokenizer's own remarks; the first says, where it is so, that it loses text."""
    loss = tokenizer.loss
    lost = (
        [f"decoding does not always give the text back: {loss}; no nats per character with it"]
        if loss
        else []
    )
    return [*lost, *tokenizer.remarks()]


def visible(token: str) -> str:
    """``token`` with its whitespace made visible: ``·`` for a space, ``↵`` before the end of a line.

    What else leaves no ink is written as ``U+001B``: a terminal would obey it.
    """
    return "".join(
        VISIBLE.get(each) or (each if each.isprintable() else f"U+{ord(each):04X}") for each in token
    )


def coloured(found: Split) -> Text:
    """The tokens side by side, each on its own background, whitespace visible."""
    drawn = Text(overflow="fold")
    for token, colour in zip(found.tokens, cycle(COLOURS), strict=False):
        drawn.append(visible(token), style=colour)
    return drawn


def marked(found: Split) -> str:
    """The same without colours: a bar between tokens."""
    return BAR.join(map(visible, found.tokens))


def over_ids(found: Split, width: int, colours: bool) -> Text:
    """Rows of at most ``width`` columns: the tokens and, under each, its id. A row ends where a line does."""
    drawn = Text(no_wrap=True, overflow="ignore")
    styles = cycle(COLOURS if colours else ("",))
    between = " " if colours else BAR
    for row in _rows(found, width):
        for number, (token, _, room) in enumerate(row):
            drawn.append(between if number else "")
            drawn.append(token + " " * (room - cell_len(token)), style=next(styles))
        drawn.append("\n")
        drawn.append(between.join(f"{number:<{room}}" for _, number, room in row), style="dim")
        drawn.append("\n")
    drawn.rstrip()
    return drawn


def _rows(found: Split, width: int) -> Iterator[Sequence[tuple[str, int, int]]]:
    """Tokens as shown, ids and the columns that both need, row by row."""
    row: list[tuple[str, int, int]] = []
    used = 0
    for token, number in zip(found.tokens, found.ids, strict=True):
        shown = visible(token).replace("\n", "").replace("\t", "")
        room = max(cell_len(shown), len(str(number)))
        if row and used + room + 1 > width:
            yield row
            row, used = [], 0
        row.append((shown, number, room))
        used += room + 1
        if token.endswith("\n"):
            yield row
            row, used = [], 0
    if row:
        yield row
