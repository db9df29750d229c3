"""A text as a model read it: every token coloured by the surprise."""

import math
from collections.abc import Sequence
from html import escape
from typing import Any, final

from onechange import notebook
from onechange.api.table import Table
from onechange.surprises import total
from onechange.tokenizer_show import visible

_DARKEST = 8.0
"""Nats from which on a token is as dark as one can be: a surprise of one in three thousand."""
_COLUMNS = ("token", "id", "nats", "probability", "rank", "start", "end", "expected")


@final
class ReadText:
    """``tokens`` has a row for each: its surprise in nats, how likely it was, its rank, where it stands in the text,
    and what the model expected most."""

    def __init__(self, text: str, tokens: Sequence[dict[str, Any]]) -> None:
        self.text = text
        self._told = tokens

    @property
    def tokens(self) -> Table:
        """A row for every token."""
        rows = [
            {
                **{key: token[key] for key in ("token", "id", "nats")},
                "probability": token["p"],
                **{key: token[key] for key in ("rank", "start", "end")},
                "expected": token["alternatives"][0]["token"],
            }
            for token in self._told
        ]
        return Table(_COLUMNS, rows)

    @property
    def nats(self) -> float:
        """The surprise at the whole text."""
        return total(self._told)

    @property
    def nats_per_character(self) -> float:
        """The same by the text's characters."""
        return self.nats / len(self.text) if self.text else math.nan

    def __repr__(self) -> str:
        return f"{len(self.text)} characters, {self.nats_per_character:.4f} nats per character"

    def _repr_html_(self) -> str:
        marks = []
        for token in self._told:
            shade = min(token["nats"] / _DARKEST, 1.0) * 0.75
            likelier = ", ".join(f"{visible(one['token'])} {one['p']:.1%}" for one in token["alternatives"])
            title = f"{token['nats']:.2f} nats, {token['p']:.2%}, rank {token['rank']}; expected {likelier}"
            marks.append((visible(token["token"]), title, f"rgba(213,94,0,{shade:.2f})"))
        foot = f"{self!r}; the darker, the more surprising"
        return notebook.coloured(marks) + f'<div style="opacity:.7">{escape(foot)}</div>'
