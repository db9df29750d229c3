"""How prompts are continued: which tokens may follow, how many stories, how long each, and where one ends.

The settings mean what they mean in transformers, and act in the order in which it applies them: repetition penalty,
temperature, top-k, top-p, min-p.
"""

import math
from collections.abc import Mapping
from typing import Any

import msgspec

from onechange import family

CHARACTERS = 800
"""The length of a story where no budget is given."""


class Sampling(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The article's settings by default; a `ValueError` names a setting that makes no sense."""

    seed: int = 42
    samples: int = 1
    """Stories per prompt; the first ones do not depend on how many there are."""
    tokens: int | None = None
    """New tokens of a story …"""
    characters: int | None = None
    """… or its new characters, so that models with different tokens write equally much."""
    temperature: float = 0.7
    """What scores are divided by; 0 takes the likeliest token."""
    top_k: int = 30
    """Only this many likeliest tokens; at or above the vocabulary it keeps all."""
    top_p: float = 1.0
    """Only the fewest likeliest tokens whose probabilities reach this sum (Holtzman et al. 2020,
    https://arxiv.org/abs/1904.09751)."""
    min_p: float = 0.0
    """Only tokens at least this share as likely as the likeliest (Nguyen et al. 2024,
    https://arxiv.org/abs/2407.01082)."""
    repetition_penalty: float = 1.0
    """What the scores of the text's own tokens are divided by, or multiplied with where they are negative (Keskar et
    al. 2019, https://arxiv.org/abs/1909.05858)."""
    stop: list[str] = []
    """A story ends before the first of these that it would come to hold."""

    def __post_init__(self) -> None:
        for key, least in (("seed", 0), ("samples", 1), ("tokens", 1), ("characters", 1), ("top_k", 1)):
            value = getattr(self, key)
            if value is not None and value < least:
                raise ValueError(f"{key} = {value}: must be at least {least}")
        if not (self.temperature >= 0 and math.isfinite(self.temperature)):
            raise ValueError(f"temperature = {self.temperature}: must be a finite number, at least 0")
        if not 0 < self.top_p <= 1:
            raise ValueError(f"top_p = {self.top_p}: must be above 0 and at most 1")
        if not 0 <= self.min_p <= 1:
            raise ValueError(f"min_p = {self.min_p}: must be from 0 to 1")
        if not (self.repetition_penalty > 0 and math.isfinite(self.repetition_penalty)):
            raise ValueError(
                f"repetition_penalty = {self.repetition_penalty}: must be a finite number above 0"
            )
        if "" in self.stop:
            raise ValueError('stop: "" is empty, every story would end before its first character')
        if self.tokens is not None and self.characters is not None:
            raise ValueError(
                f"tokens = {self.tokens} and characters = {self.characters}: a budget is one of the two"
            )
        if self.tokens is None and self.characters is None:
            msgspec.structs.force_setattr(self, "characters", CHARACTERS)

    def ending_at(self, separator: str) -> "Sampling":
        """The same, but a story ends before ``separator`` too."""
        return msgspec.structs.replace(self, stop=[*self.stop, separator])


_TYPES = {field.name: field.type for field in msgspec.structs.fields(Sampling)}


def check(where: str, table: Any) -> None:
    """A `ValueError` unless ``table``, of the place ``where`` in a study file, holds settings and nothing else."""
    if not isinstance(table, Mapping):
        raise ValueError(f"{where} = {table!r}: must be a table")
    for key in table:
        if key not in _TYPES:
            raise ValueError(f"{where}: unknown key {key!r}; allowed: {', '.join(_TYPES)}")
    try:
        layered(table)
    except ValueError as error:
        raise ValueError(f"{where}: {error.args[0]}") from None


def layered(*tables: Mapping[str, Any]) -> Sampling:
    """The settings of all ``tables``, each stronger than those before it; a budget takes the place of either one."""
    joined: dict[str, Any] = {}
    for table in tables:
        if "tokens" in table or "characters" in table:
            joined = {key: value for key, value in joined.items() if key not in ("tokens", "characters")}
        joined |= {key: family.checked(key, value, _TYPES[key]) for key, value in table.items()}
    return Sampling(**joined)


def remark(sampling: Sampling, vocabulary: int) -> str | None:
    """What a person should know of settings beside a model with so many tokens."""
    if sampling.top_k <= vocabulary:
        return None
    return f"top_k = {sampling.top_k}: there are {vocabulary:,} tokens, all of them are allowed"
