"""How written stories are shown: as they are written, one below another, or side by side."""

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import get_args

from rich import box
from rich.table import Table
from rich.text import Text

from onechange.checkpoint import Which
from onechange.generate import Continuation, Piece
from onechange.sampling import Sampling
from onechange.verbs import output

NARROWEST = 30
"""Characters that a column of a story has at least."""


@dataclass(frozen=True)
class Author:
    """A run at a checkpoint, and how it was asked to write."""

    run: str
    arm: str
    seed: int
    checkpoint: str
    step: int
    nats_per_character: float | None
    """Of its validation text, where it was measured."""
    sampling: Sampling


def as_written(author: Author, pieces: Iterable[Piece]) -> None:
    """One story after another, each as it is written."""
    shown = -1
    for piece in in_order(pieces):
        if piece.place != shown:
            _heading(author, piece.prompt, piece.number)
            shown = piece.place
        output.text(piece.text)
        if piece.whole is not None:
            output.text("\n\n")


def in_order(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """The pieces text by text: those of a later one wait until the texts before it are whole."""
    place = 0
    waiting: defaultdict[int, deque[Piece]] = defaultdict(deque)
    for arrived in pieces:
        waiting[arrived.place].append(arrived)
        while waiting[place]:
            piece = waiting[place].popleft()
            yield piece
            place += piece.whole is not None


def side_by_side(authors: Sequence[Author], written: Sequence[Sequence[Continuation]]) -> None:
    """A column per author and a row per story; one below another where the columns would be too narrow to read."""
    if output.out.width // len(authors) < NARROWEST:
        for author, stories in zip(authors, written, strict=True):
            for story in stories:
                _heading(author, story.prompt, story.number)
                output.text(f"{story.text}\n\n")
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, expand=True, leading=1)
    for title in _titles(authors):
        table.add_column(title, overflow="fold", ratio=1)
    for row in zip(*written, strict=True):
        table.add_row(*(Text.assemble((story.prompt, "bold"), story.text) for story in row))
    output.out.print(table)


def _heading(author: Author, prompt: str, number: int) -> None:
    sample = f", sample {number + 1}" if author.sampling.samples > 1 else ""
    output.out.print(Text(f"{author.run}, {_checkpoint(author)}{sample}", "dim"), soft_wrap=True)
    output.out.print(Text(prompt, "bold"), end="", soft_wrap=True)


def _titles(authors: Sequence[Author]) -> list[Text]:
    """Arm and seed, or the folder where two have them in common; the checkpoint; how good it is."""
    names = [f"{author.arm}, seed {author.seed}" for author in authors]
    if len(set(names)) < len(names):
        names = [author.run for author in authors]
    titles = []
    for name, author in zip(names, authors, strict=True):
        lines = [_checkpoint(author)]
        if author.nats_per_character is not None:
            lines.append(f"{author.nats_per_character:.4f} nats per character")
        titles.append(Text.assemble((name, "bold"), *((f"\n{line}", "dim") for line in lines)))
    return titles


def _checkpoint(author: Author) -> str:
    step = f"step {author.step:,}"
    return f"{author.checkpoint} ({step})" if author.checkpoint in get_args(Which) else step
