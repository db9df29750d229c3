"""`onechange corpus describe`."""

from typing import Any

from rich.table import Column, Table
from rich.text import Text

from onechange import documents, source
from onechange.verbs import output, preparing


@preparing.shown()
def corpus(word: str, as_json: bool) -> None:
    """Print a corpus's facts in the keys of `results.json`."""
    prepared = documents.prepare(source.parse(word), watch=preparing.watch)
    facts: dict[str, Any] = {**prepared.facts, "entropy_floor": prepared.entropy_floor}
    if as_json:
        output.document(facts)
        return
    table = Table("", Column(overflow="fold"), box=None, show_header=False, pad_edge=False)
    for name, value in facts.items():
        if value in (None, [], {}):
            continue
        if isinstance(value, dict):
            value = ", ".join(f"{key} = {inner!r}" for key, inner in value.items())
        elif isinstance(value, list):
            value = "; ".join(map(str, value))
        shown = (
            f"{value:,}"
            if isinstance(value, int)
            else f"{value:.4f}"
            if isinstance(value, float)
            else str(value)
        )
        table.add_row(name.replace("_", " "), Text(shown if name != "separator" else repr(value)))
    output.out.print(table)
