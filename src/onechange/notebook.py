"""How objects show themselves in a notebook: small pieces of HTML that bring their own style and escape all text.

Backgrounds are translucent and letters keep the notebook's colour, so that light and dark both read well.
"""

from collections.abc import Collection, Iterable, Sequence
from html import escape

TINTS = ("rgba(0,114,178,.18)", "rgba(213,94,0,.22)")
_MONO = "font-family:ui-monospace,Menlo,Consolas,monospace"
_TOKEN = "border-radius:3px;padding:0 .12em;margin-right:1px"
_CELL = "text-align:left;padding:.2em .8em .2em 0;vertical-align:top"


def split(shown: Sequence[str], ids: Sequence[int], characters: int) -> str:
    """Tokens, as they are to be shown, in two colours; pointing at one shows its id."""
    marks = [
        (token, f"id {number}", TINTS[place % 2])
        for place, (token, number) in enumerate(zip(shown, ids, strict=True))
    ]
    count = f"{characters:,} characters, {len(ids):,} tokens"
    if ids:
        count += f", {characters / len(ids):.2f} characters per token"
    return f'{coloured(marks)}<div style="opacity:.7">{count}</div>'


def coloured(marks: Iterable[tuple[str, str, str]]) -> str:
    """Pieces of text, each with what pointing at it shows and its background."""
    drawn = "".join(
        f'<span title="{escape(title)}" style="background:{background};{_TOKEN}">{escape(token)}</span><wbr>'
        for token, title, background in marks
    )
    return f'<div style="{_MONO};line-height:1.9;white-space:pre-wrap">{drawn}</div>'


def titled(title: str, content: str) -> str:
    """HTML with a title over it."""
    return f'<div style="margin-top:.8em"><b>{escape(title)}</b>{content}</div>'


def facts(title: str, rows: Iterable[tuple[str, str]]) -> str:
    """A title over names and values."""
    lines = "".join(
        f'<tr><th style="{_CELL}">{escape(name)}</th><td style="{_CELL};white-space:pre-wrap">{escape(value)}</td></tr>'
        for name, value in rows
    )
    return titled(title, f"<table>{lines}</table>")


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], words: Collection[int] = ()) -> str:
    """A table, its first column the names of the rows, all others aligned to the right but for those of ``words``."""

    def row(cells: Sequence[str], tag: str) -> str:
        styles = [
            _CELL if place == 0 or place in words else f"{_CELL};text-align:right"
            for place in range(len(cells))
        ]
        return "".join(
            f'<{tag if place else "th"} style="{style}">{escape(cell)}</{tag if place else "th"}>'
            for place, (cell, style) in enumerate(zip(cells, styles, strict=True))
        )

    body = "".join(f"<tr>{row(cells, 'td')}</tr>" for cells in rows)
    return f"<table><thead><tr>{row(heads, 'th')}</tr></thead><tbody>{body}</tbody></table>"
