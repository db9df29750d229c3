"""The answer, the ladder and the table for the terminal, as things that rich prints."""

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from onechange.report import (
    correction,
    judged_text,
    ladder_text,
    story_figures,
    story_sentences,
    tuning_table,
)
from onechange.report.answer import answers, left_out
from onechange.report.study import Study
from onechange.report.table import VALIDATION, columns, rows

TABLE = ("change", "best", "last", "at best", "verdict")


def answer(study: Study) -> RenderableType:
    """One sentence per change, and what a reader must know of how it came about."""
    written = story_figures.read(study)
    stories = story_sentences.copying(written) if written is not None else []
    told = [judged_text.sentence(study), correction.sentence(study), *tuning_table.lines(study), *stories]
    return Group(
        *(Text.assemble((f"{a.change}  ", "bold"), f"{a.headline} {a.detail}") for a in answers(study)),
        *(Text(line) for line in told if line),
        *map(Text, left_out(study)),
    )


def ladder(study: Study, width: int = 78) -> RenderableType:
    """The ladder in characters, ``width`` of them across."""
    return Text("\n".join(ladder_text.lines(study, width)), no_wrap=True, overflow="crop")


def table(study: Study) -> RenderableType:
    """The arms and their figures; the page has the columns that do not fit a terminal."""
    all_columns = columns(study)
    shown = [
        index
        for index, column in enumerate(all_columns)
        if column.title in TABLE and column is not VALIDATION
    ]
    drawn = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    drawn.add_column("arm", style="bold")
    for index in shown:
        column = all_columns[index]
        title = f"{column.group}, {column.title}" if column.group else column.title
        drawn.add_column(title, justify="right" if column.numeric else "left")
    for arm, cells in rows(study):
        texts = [Text(cells[i].text + (f"\n{cells[i].small}" if cells[i].small else "")) for i in shown]
        drawn.add_row(Text(arm.name), *texts)
    return drawn
