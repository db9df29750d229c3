"""`onechange corpus describe` and `onechange tokenizer show`."""

from pathlib import Path
from typing import Any

from rich.table import Column, Table
from rich.text import Text

from onechange import dataset, documents, family, source, tokenizer_file, tokenizer_show
from onechange.prompts import demonstration
from onechange.study import DEMONSTRATION
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


@preparing.shown()
def tokenizer(what: str, text: str | None, data: str | None, as_json: bool) -> None:
    """Split a text with a run's tokenizer or with a member learned now."""
    if (Path(what) / "tokenizer.json").is_file():
        found = tokenizer_file.load(Path(what) / "tokenizer.json")
        asked = DEMONSTRATION if text is None else text
    elif what in family.members("tokenizer"):
        prepared = documents.prepare(source.parse(data or "storyworld"), watch=preparing.watch)
        found = dataset.learn(prepared, family.resolve("tokenizer", what), preparing.watch)
        asked = demonstration(DEMONSTRATION, prepared) if text is None else text
    else:
        raise LookupError(
            f"{what!r} is neither a run's folder nor a tokenizer; there is {', '.join(family.members('tokenizer'))}"
        )
    try:
        split = tokenizer_show.describe(found, asked)
    except ValueError as error:
        advice = "; name another text with --text" if text is None else ""
        raise ValueError(f"{asked!r}: {error.args[0]}{advice}") from None
    if as_json:
        output.document(
            {"vocabulary": found.vocabulary_size, "remarks": tokenizer_show.remarks(found), **split}
        )
        return
    drawn = tokenizer_show.coloured(split) if output.out.is_terminal else tokenizer_show.marked(split)
    output.out.print(drawn, markup=False, soft_wrap=True)
    output.out.print(
        f"\n{split['characters']} characters, {split['token_count']} tokens, "
        f"{split['characters_per_token'] or 0:.2f} characters per token; vocabulary {found.vocabulary_size:,}"
    )
    for remark in tokenizer_show.remarks(found):
        output.out.print(remark)
