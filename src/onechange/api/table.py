"""A table of results: rows in Python's own types, which other libraries take as they are."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, final, overload

from onechange import notebook

_MOST_ROWS = 40
"""Rows that a notebook shows; of longer tables the first ones."""
_WIDE, _FEW = 9, 6
"""A table of more columns and no more rows than this is shown turned: a line for every column."""
_LARGE, _DECIMALS = 10_000, 4
"""Columns that hold greater numbers are shown without decimals, others with so many."""
_DASH = "–"


@final
class Table(Sequence[dict[str, Any]]):
    """A sequence of rows, each a dictionary with the same keys; ``table["column"]`` is a column as a list.

    What is not known is ``None``. `to_pandas` and `to_arrow` need those libraries; whatever reads Arrow's C stream
    (polars, duckdb, pandas 3) takes the table itself.
    """

    def __init__(self, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
        """``columns`` in the order in which they are shown; a `ValueError` names a row that has others."""
        self.columns = tuple(columns)
        self._rows = [dict(row) for row in rows]
        for number, row in enumerate(self._rows):
            if tuple(row) != self.columns:
                raise ValueError(f"row {number} has the columns {[*row]}, the table {[*columns]}")

    @overload
    def __getitem__(self, which: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, which: slice) -> "Table": ...
    @overload
    def __getitem__(self, which: str) -> list[Any]: ...
    def __getitem__(self, which: int | slice | str) -> Any:
        if isinstance(which, str):
            if which not in self.columns:
                raise KeyError(f"no column {which!r}; there is {', '.join(self.columns)}")
            return [row[which] for row in self._rows]
        if isinstance(which, slice):
            return Table(self.columns, self._rows[which])
        return dict(self._rows[which])

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (dict(row) for row in self._rows)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Table) and (self.columns, self._rows) == (other.columns, other._rows)

    __hash__ = None  # pyright: ignore[reportAssignmentType]  # rows hold what may not be hashed

    def where(self, **values: Any) -> "Table":
        """The rows whose columns have these values: ``table.where(arm="bpe-rope", seed=0)``."""
        for name in values:
            if name not in self.columns:
                raise KeyError(f"no column {name!r}; there is {', '.join(self.columns)}")
        return Table(
            self.columns,
            [row for row in self._rows if all(row[name] == value for name, value in values.items())],
        )

    def to_pandas(self) -> Any:
        """A `pandas.DataFrame`."""
        try:
            import pandas
        except ImportError:
            raise ImportError("pandas is missing: pip install 'onechange[notebooks]'") from None
        return pandas.DataFrame({name: self[name] for name in self.columns})

    def to_arrow(self) -> Any:
        """A `pyarrow.Table`."""
        try:
            import pyarrow
        except ImportError:
            raise ImportError("pyarrow is missing: pip install 'onechange[notebooks]'") from None
        return pyarrow.table({name: self[name] for name in self.columns})

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """What others take the table by: Arrow's PyCapsule interface,
        https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html"""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        return f"Table of {len(self)} rows: {', '.join(self.columns)}"

    def _repr_html_(self) -> str:
        rows = self._rows[:_MOST_ROWS]
        written = [_written([row[name] for row in rows]) for name in self.columns]
        if (
            len(self.columns) > _WIDE and len(rows) <= _FEW
        ):  # a wide table of few rows is read more easily turned
            heads, *body = ([name, *cells] for name, cells in zip(self.columns, written, strict=True))
            html = notebook.table(heads, body)
        else:
            words = [
                place
                for place, name in enumerate(self.columns)
                if any(isinstance(row[name], str) for row in rows)
            ]
            html = notebook.table(self.columns, zip(*written, strict=True), words)
        if len(self) > _MOST_ROWS:
            html += f'<div style="opacity:.7">the first {_MOST_ROWS} of {len(self):,} rows</div>'
        return html


def _written(values: Sequence[Any]) -> list[str]:
    """A column's cells: numbers with as many decimals as the column has use for, four at most."""
    numbers = [value for value in values if isinstance(value, float) and math.isfinite(value)]
    whole = all(value == round(value) for value in numbers)
    decimals = 0 if whole or max(map(abs, numbers)) >= _LARGE else _DECIMALS
    return [_shown(value, decimals) for value in values]


def _shown(value: Any, decimals: int) -> str:
    match value:
        case None:
            return _DASH
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case float():
            return f"{value:,.{decimals}f}"
        case list() | tuple():
            return ", ".join(_shown(inner, decimals) for inner in value)
        case _:
            return str(value)
