"""How a tokenizer splits a text: as figures, and in colours with the spaces visible."""

from itertools import cycle
from typing import Any

from rich.text import Text

from onechange.tokenizer import Tokenizer

VISIBLE = {" ": "·", "\n": "↵\n", "\t": "→\t", "\r": "␍"}
"""How whitespace is written in colours. A line still ends where it ends."""

COLOURS = ("black on yellow", "black on cyan", "black on green", "black on magenta")
"""One after the other, so that neighbouring tokens differ; every terminal that has colours has these."""


def describe(tokenizer: Tokenizer, text: str) -> dict[str, Any]:
    """The split of ``text`` as JSON values.

    ``tokens`` and ``ids`` in the order of the text; ``token_count`` and ``characters`` (of the text) count;
    ``characters_per_token`` is None for an empty text. A `ValueError` lists characters outside the alphabet.
    """
    ids = tokenizer.encode(text).tolist()
    texts = tokenizer.tokens()
    return {
        "text": text,
        "tokens": [texts[number] for number in ids],
        "ids": ids,
        "token_count": len(ids),
        "characters": len(text),
        "characters_per_token": len(text) / len(ids) if ids else None,
    }


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
    """``token`` with its whitespace made visible: ``·`` for a space, ``↵`` before the end of a line."""
    return "".join(VISIBLE.get(character, character) for character in token)


def coloured(description: dict[str, Any]) -> Text:
    """The tokens of `describe` side by side, each on its own background, whitespace visible."""
    drawn = Text(overflow="fold")
    for token, colour in zip(description["tokens"], cycle(COLOURS), strict=False):
        drawn.append(visible(token), style=colour)
    return drawn


def marked(description: dict[str, Any]) -> str:
    """The same without colours: a bar between tokens."""
    return "│".join(visible(token) for token in description["tokens"])
