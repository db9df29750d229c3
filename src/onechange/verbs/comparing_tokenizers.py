"""`onechange tokenizer compare`: several tokenizers on one corpus, as a table, a chart and a page."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from rich.bar import Bar
from rich.table import Table
from rich.text import Text

from onechange import atomic, documents, source, tokenizer_compare, tokenizer_show, tokenizer_word
from onechange.tokenizer_compare import COLUMNS, Comparison, Entry
from onechange.verbs import output, preparing
from onechange.verbs.showing import draw
from onechange.verbs.words import given

TITLES, COLUMN = 40, 17
"""Columns of the terminal for the rows' titles and for each tokenizer."""
LONGEST = 8
Thing = TypeVar("Thing")


@preparing.shown()
def compare(
    words: Sequence[str],
    data: str | None,
    width: int,
    layers: int,
    text: str | None,
    page: Path | None,
    as_json: bool,
) -> None:
    """Print the figures of every tokenizer on the corpus, and the same text as each splits it."""
    wanted = [one for word in words for one in tokenizer_word.parse(word)]
    shown = None if text is None else given(text)
    if page is not None and (page.is_dir() or not page.absolute().parent.is_dir()):
        raise ValueError(f"--page {page}: must be a file in a folder that exists")
    corpus = documents.prepare(source.parse(data or "storyworld"), watch=preparing.watch)
    with output.notes.status("") as status:
        found = tokenizer_compare.compare(
            corpus, wanted, width=width, layers=layers, text=shown, watch=preparing.watch, begun=status.update
        )
    if page is not None:
        from onechange.report import tokenizers_page

        atomic.write(page, tokenizers_page.html(found))
    if as_json:
        output.document(found.to_json())
        return
    for some in groups(found.entries, max(1, (output.out.width - TITLES) // COLUMN)):
        output.out.print(_table(some), "")
    output.out.print(_chart(found), "")
    for entry in found.entries:
        output.out.print(entry.label, style="bold", markup=False, soft_wrap=True)
        for remark in tokenizer_show.remarks(entry.tokenizer):
            output.out.print(remark, markup=False)
        if longest := tokenizer_show.listed(entry.figures.longest_tokens[:LONGEST]):
            output.out.print(f"longest tokens: {longest}", markup=False, soft_wrap=True)
        draw(entry.split)
        output.out.print()
    output.out.print(
        "A word is a run of letters. Unused tokens are those that the training text never needs. "
        f"The embedding is that of a model of width {found.width} and {found.layers} layers."
    )
    if page is not None:
        output.out.print(f"The page is {page}.", markup=False, soft_wrap=True)


def groups(things: Sequence[Thing], most: int) -> Iterator[Sequence[Thing]]:
    """As many at a time as there is room for."""
    for first in range(0, len(things), most):
        yield things[first : first + most]


def _table(entries: Sequence[Entry]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column("tokenizer")
    for entry in entries:
        table.add_column(Text(entry.label), justify="right", overflow="fold")
    for title, cell in COLUMNS.items():
        table.add_row(title, *(Text(cell(entry)) for entry in entries))
    return table


def _chart(found: Comparison) -> Table:
    """Characters per token of the validation text, of the training text where there is none, as bars."""
    rows = [(entry.label, *entry.figures.density) for entry in found.entries]
    most = max(value for _, value, _ in rows)
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column(overflow="fold", max_width=TITLES)
    table.add_column(f"characters per token, {rows[0][2]} text")
    table.add_column(justify="right")
    for label, value, _ in rows:
        table.add_row(Text(label), Bar(most, 0, value, width=40), f"{value:.2f}")
    return table
