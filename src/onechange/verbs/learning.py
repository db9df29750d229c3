"""`onechange tokenizer learn`: a tokenizer learned from a text and kept in a folder."""

import time
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from onechange import (
    dataset,
    documents,
    source,
    tokenizer_card,
    tokenizer_file,
    tokenizer_show,
    tokenizer_word,
)
from onechange.tokenizer import Tokenizer
from onechange.tokenizer_amount import amount
from onechange.verbs import output, preparing

FIRST = 12
"""How many of the first learned tokens, and of the longest, are shown."""
FILES = ("tokenizer.json", "tokenizer_config.json")


@preparing.shown()
def learn(word: str, data: str | None, out: Path, as_json: bool) -> None:
    """Learn, tell what was learned, and write it into a folder that holds no tokenizer yet."""
    wanted = tokenizer_word.one(word)
    if wanted.resolved is None:
        raise ValueError(f"{word!r} is learned already; name a member, or copy the file")
    check(out)
    corpus = documents.prepare(source.parse(data or "storyworld"), watch=preparing.watch)
    output.notes.print(f"learning {wanted.label} from {data or 'storyworld'}", markup=False, soft_wrap=True)
    start = time.perf_counter()
    tokenizer = dataset.learn(corpus, wanted.resolved, preparing.watch)
    seconds = time.perf_counter() - start
    several = tokenizer_card.first(tokenizer, FIRST)
    longest = tokenizer_card.longest(tokenizer, FIRST)
    parts = {"training": corpus.training, "validation": corpus.validation}
    amounts = {
        name: amount(tokenizer, stories, corpus.separator, preparing.watch) for name, stories in parts.items()
    }
    keep(tokenizer, wanted.resolved, out)
    if as_json:
        told: dict[str, Any] = {
            "tokenizer": wanted.label,
            "settings": wanted.resolved,
            "corpus_fingerprint": corpus.fingerprint,
            "vocabulary": tokenizer.vocabulary_size,
            "lossless": tokenizer.lossless,
            "loss": tokenizer.loss,
            "remarks": tokenizer.remarks(),
            **{name: found.to_json() for name, found in amounts.items()},
            "first_tokens": several,
            "longest_tokens": longest,
            "seconds": seconds,
            "folder": str(out),
        }
        output.document(told)
        return
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column()
    table.add_column(overflow="fold")
    rows = {"vocabulary": f"{tokenizer.vocabulary_size:,}"}
    for name, found in amounts.items():
        if found.tokens:
            rows[f"{name} text"] = (
                f"{found.tokens:,} tokens, {found.characters_per_token:.2f} characters and "
                f"{found.bytes_per_token:.2f} bytes each"
            )
    if several:
        rows["first tokens of several characters"] = tokenizer_show.listed(several)
        rows["longest tokens"] = tokenizer_show.listed(longest)
    rows["seconds"] = f"{seconds:.2f}"
    for name, value in rows.items():
        table.add_row(name, Text(value))
    output.out.print(table)
    for remark in tokenizer_show.remarks(tokenizer):
        output.out.print(remark, markup=False)
    output.out.print(f"kept in {out}", markup=False, soft_wrap=True)


def check(out: Path) -> None:
    """Raise a `ValueError` unless a tokenizer may be written into the folder ``out``."""
    if out.exists() and not out.is_dir():
        raise ValueError(f"--out {out}: is a file, it must be a folder or not exist")
    for name in FILES:
        if (out / name).exists():
            raise ValueError(f"--out {out}: holds a {name} already; name another folder")


def keep(tokenizer: Tokenizer, resolved: dict[str, Any], out: Path) -> None:
    """Write ``tokenizer`` into the folder ``out``; whatever interrupts that, nothing of it is left there."""
    made = [place for place in (out, *out.parents) if not place.exists()]
    out.mkdir(parents=True, exist_ok=True)
    try:
        tokenizer_file.save(tokenizer, resolved, out / "tokenizer.json")
    except BaseException:
        for name in FILES:
            (out / name).unlink(missing_ok=True)
        for place in made:
            place.rmdir()
        raise
