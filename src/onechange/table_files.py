"""Documents from one field of every .jsonl line, or from one column of a .parquet file."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from onechange.plain_text import Changes, lines


def jsonl(pieces: Iterable[str], field: str, changes: Changes) -> Iterator[str]:
    """The text in ``field`` of each line's object; blank lines and null are passed over.

    Raises `ValueError` with the file and the line's number, counted from 1.
    """
    for number, line in enumerate(lines(pieces), 1):
        if not line.strip():
            continue
        where = f"{changes.name}, line {number:,}"
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{where}: not a JSON object: {error}") from None
        if not isinstance(row, dict):
            raise ValueError(f"{where}: a JSON object is needed, this is {type(row).__name__}")
        if field not in row:
            raise LookupError(_missing(where, field, row))
        if row[field] is not None:
            yield _text(where, field, row[field], changes)


def parquet(file: Path, field: str, changes: Changes) -> Iterator[str]:
    """The text in the column ``field``; null is passed over.

    Raises `ValueError` with the row's number, counted from 1, and where pyarrow is not installed.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise ValueError(f"{file}: .parquet needs pyarrow: pip install 'onechange[parquet]'") from None
    number = 0
    try:
        with pyarrow.parquet.ParquetFile(file) as table:
            if field not in table.schema_arrow.names:
                raise LookupError(_missing(str(file), field, table.schema_arrow.names))
            for batch in table.iter_batches(columns=[field], batch_size=1024):
                for value in batch.column(0).to_pylist():
                    number += 1
                    if value is not None:
                        yield _text(f"{file}, row {number:,}", field, value, changes)
    except pyarrow.ArrowException as error:
        raise ValueError(f"{file}: not a readable parquet file: {' '.join(str(error).split())}") from None


def _text(where: str, field: str, value: Any, changes: Changes) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{where}: {field!r} must be text, this is {type(value).__name__}")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"{where}: {field!r} holds half a surrogate pair at character {error.start:,}"
        ) from None
    changes.line_ends_replaced += value.count("\r\n")
    return value.replace("\r\n", "\n")


def _missing(where: str, field: str, names: Iterable[str]) -> str:
    there = ", ".join(map(repr, names)) or "nothing"
    return f"{where}: no field {field!r}; there is {there}; choose one with corpus.field"
