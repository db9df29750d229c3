"""`onechange list`: what a study may choose from."""

import inspect
import json
from typing import Any

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from onechange import family, study_file
from onechange.scale import SCALES
from onechange.verbs import output


def show(what: str, as_json: bool) -> None:
    """Print the studies, the scales, the families, or one family's members with their settings."""
    if what == "families":
        rows = [{"family": name, "members": family.members(name)} for name in family.FAMILIES]
    elif what == "studies":
        rows = [_study(name) for name in study_file.builtin()]
    elif what == "scales":
        rows = [{"scale": name, **settings} for name, settings in SCALES.items()]
    elif what in family.FAMILIES:
        rows = [_member(what, name) for name in family.members(what)]
    else:
        allowed = ", ".join(("families", "studies", "scales", *family.FAMILIES))
        raise LookupError(f"nothing called {what!r} to list; there is {allowed}")
    if as_json:
        output.document(rows)
    elif what in family.FAMILIES:
        for row in rows:
            _print_member(row)
    else:
        output.out.print(_side_by_side(rows) if what == "scales" else _table(rows))


def _study(name: str) -> dict[str, Any]:
    found = study_file.read(study_file.builtin()[name])
    return {"study": name, "question": found.question, "arms": found.arm_names}


def _member(name: str, word: str) -> dict[str, Any]:
    settings = {
        key: "(must be given)" if value is inspect.Parameter.empty else value
        for key, value in family.defaults(name, word).items()
    }
    return {
        name: word,
        "settings": settings,
        "what it is": family.summary(name, word),
        "source": family.source(name, word),
        "package": family.package(name, word),
    }


def _print_member(row: dict[str, Any]) -> None:
    """The word, and below it what there is to say: a line of a table would be too long for most terminals."""
    word, *_ = row.values()
    output.out.print(Text(word, "bold"))
    output.out.print(Padding(Text(row["what it is"]), (0, 0, 0, 2)))
    facts = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    facts.add_column(no_wrap=True)
    facts.add_column(overflow="fold")
    for key in ("settings", "source", "package"):
        if row[key]:
            facts.add_row(Text(key, "dim"), Text(_shown(row[key])))
    if facts.row_count:
        output.out.print(Padding(facts, (0, 0, 0, 2)))


def _table(rows: list[dict[str, Any]]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for key in rows[0]:
        table.add_column(key, overflow="fold")
    for row in rows:
        table.add_row(*(_shown(value) for value in row.values()))
    return table


def _side_by_side(rows: list[dict[str, Any]]) -> Table:
    """One column per row, for rows of many short values."""
    first, *keys = dict.fromkeys(key for row in rows for key in row)
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for title in (first, *(row[first] for row in rows)):
        table.add_column(title, overflow="fold")
    for key in keys:
        table.add_row(key, *(_shown(row[key]) if key in row else "" for row in rows))
    return table


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        settings = value.items()
        return ", ".join(
            f"{key} = {json.dumps(inner)}" if key != "name" else inner for key, inner in settings
        )
    if isinstance(value, list):
        return ("; " if any(isinstance(one, dict) for one in value) else ", ").join(map(_shown, value))
    return str(value)
