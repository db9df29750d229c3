"""`onechange list`: what a study may choose from."""

import inspect
from typing import Any

from rich.table import Table
from rich.text import Text

from onechange import family, study
from onechange.scale import SCALES
from onechange.verbs import output


def show(what: str, as_json: bool) -> None:
    """Print the studies, the scales, the families, or one family's members with their settings."""
    if what == "families":
        rows = [{"family": name, "members": family.members(name)} for name in family.FAMILIES]
    elif what == "studies":
        rows = [_study(name) for name in study.builtin()]
    elif what == "scales":
        rows = [{"scale": name, **settings} for name, settings in SCALES.items()]
    elif what in family.FAMILIES:
        rows = [_member(what, name) for name in family.members(what)]
    else:
        allowed = ", ".join(("families", "studies", "scales", *family.FAMILIES))
        raise LookupError(f"nothing called {what!r} to list; there is {allowed}")
    if as_json:
        output.document(rows)
    elif what == "scales":
        output.out.print(_columns(rows))
    else:
        output.out.print(_table([_with_needed(row) for row in rows]))


def _study(name: str) -> dict[str, Any]:
    found = study.read(study.builtin()[name])
    return {"study": name, "question": found.question, "arms": found.arm_names}


def _member(name: str, word: str) -> dict[str, Any]:
    settings = family.defaults(name, word)
    needed = [key for key, value in settings.items() if value is inspect.Parameter.empty]
    return {
        name: word,
        "needed": needed,
        "settings": {key: value for key, value in settings.items() if key not in needed},
        "what it is": family.summary(name, word),
    }


def _with_needed(row: dict[str, Any]) -> dict[str, Any]:
    """The settings that must be given stand before those that have a default."""
    if "needed" not in row:
        return row
    needed = "".join(f"{key} = …, " for key in row["needed"])
    shown = (needed + _shown(row["settings"])).removesuffix(", ")
    return {key: shown if key == "settings" else value for key, value in row.items() if key != "needed"}


def _columns(rows: list[dict[str, Any]]) -> Table:
    """One column per row and one row per key: scales have more keys than a terminal has room for."""
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    (title, *_), keys = rows[0], dict.fromkeys(key for row in rows for key in row)
    table.add_column(title)
    for row in rows:
        table.add_column(str(row[title]), overflow="fold")
    for key in keys:
        if key != title:
            table.add_row(key, *(Text(_shown(row[key]) if key in row else "") for row in rows))
    return table


def _table(rows: list[dict[str, Any]]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for key in rows[0]:
        table.add_column(key, overflow="fold")
    for row in rows:
        table.add_row(*(Text(_shown(value)) for value in row.values()))
    return table


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} = {inner!r}" for key, inner in value.items())
    return ", ".join(value) if isinstance(value, list) else str(value)
