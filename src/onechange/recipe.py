"""One run's recipe: everything that determines it, resolved; its hash is the run's identity."""

import hashlib
import json
import math
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar, Literal

import msgspec
import tomli_w

from onechange import family, outside, untrusted
from onechange.sizes import Sizes

Precision = Literal["bf16", "float32"]
Device = Literal["cpu", "cuda", "mps"]
Activations = Literal["keep", "recompute"]


class Recipe(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Families are tables ``{"name": …, settings…}`` with every default filled in."""

    FORMAT: ClassVar[int] = 3

    corpus: dict[str, Any]
    corpus_fingerprint: str
    tokenizer: dict[str, Any]
    position: dict[str, Any]
    norm: dict[str, Any]
    placement: dict[str, Any]
    mlp: dict[str, Any]
    attention: dict[str, Any]
    embedding: dict[str, Any]
    initialization: dict[str, Any]
    optimizer: dict[str, Any]
    schedule: dict[str, Any]
    layers: int
    heads: int
    width: int
    window: int
    dropout: float
    batch: int
    micro_batch: int
    """Rows of one forward pass of one process; 0: the process's whole part of the batch."""
    activations: Activations
    steps: int
    evaluate_every: int
    patience: int = 0
    """Evaluations in a row without a new lowest validation loss after which the run ends early; 0: it never does."""
    clip: float
    precision: Precision
    compile: bool
    threads: int
    device: Device
    seed: int
    format: int = FORMAT

    def __post_init__(self) -> None:
        if self.format != self.FORMAT:
            raise ValueError(
                f"format = {self.format}: this version reads recipes of format {self.FORMAT}; a run of another format "
                "is finished and read by the version that began it"
            )
        for key in ("batch", "steps", "evaluate_every", "threads"):
            if getattr(self, key) < 1:
                raise ValueError(f"{key} = {getattr(self, key)}: must be at least 1")
        for key in ("micro_batch", "patience"):
            if getattr(self, key) < 0:
                raise ValueError(f"{key} = {getattr(self, key)}: must be at least 0")
        if not (self.clip > 0 and math.isfinite(self.clip)):
            raise ValueError(f"clip = {self.clip}: must be a finite number above 0")
        if self.seed < 0:
            raise ValueError(f"seed = {self.seed}: must be at least 0")
        self.sizes(1)

    def sizes(self, vocabulary: int) -> Sizes:
        """The model's sizes, once the tokenizer has said how many tokens there are."""
        return Sizes(self.layers, self.heads, self.width, self.window, vocabulary, self.dropout)

    @property
    def parts(self) -> dict[str, dict[str, Any]]:
        """The model's families and their resolved members."""
        return {name: getattr(self, name) for name in family.MODEL_FAMILIES}

    @property
    def members(self) -> dict[str, dict[str, Any]]:
        """Every family and its resolved member."""
        return {name: getattr(self, name) for name in family.FAMILIES}

    @property
    def versions(self) -> dict[str, int | str]:
        """The version of the member of every family that makes numbers, and of a corpus that comes from outside."""
        return {
            name: family.version(name, member["name"])
            for name, member in self.members.items()
            if name != "corpus" or family.is_from_outside(name, member["name"])
        }

    @property
    def identity(self) -> str:
        """SHA-256 of the canonical JSON of all that determines the numbers: no name of an arm, no path."""
        content = msgspec.to_builtins(self)
        content["corpus"] = None  # the fingerprint stands for it
        content["tokenizer"] = family.determining("tokenizer", self.tokenizer)
        content["versions"] = self.versions
        text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()

    def to_toml(self) -> str:
        """The recipe as a file; what is ``None`` is left out, since TOML has no word for it."""
        return tomli_w.dumps(_without_none(msgspec.to_builtins(self)))

    @classmethod
    def read(cls, path: Path) -> "Recipe":
        """The recipe that `to_toml` wrote to ``path``; a `ValueError` names the file and what is wrong.

        The settings of a member from outside whose code is not here are taken as they stand.
        """
        try:
            content = msgspec.toml.decode(untrusted.read(path, untrusted.SMALL))
            for name in family.FAMILIES:
                if name not in content:
                    raise ValueError(f"the table [{name}] is missing")
                if not isinstance(content[name], dict):
                    raise ValueError(f"{name} = {content[name]!r}: must be a table")
                content[name] = _resolved(name, content[name], path)
            return msgspec.convert(content, cls)
        except RecursionError:
            raise ValueError(f"{path} is not a recipe that can be read: it is nested too deeply") from None
        except (msgspec.MsgspecError, ValueError, LookupError) as error:
            raise ValueError(f"{path} is not a recipe that can be read: {error}") from None


def _resolved(name: str, table: dict[str, Any], path: Path) -> dict[str, Any]:
    word = table.get("name")
    if outside.is_file(word):
        with suppress(ValueError, LookupError):  # what was executed here may be another version of it
            return family.resolve(name, table)
        return family.recorded(name, table)
    missing = isinstance(word, str) and not family.is_here(name, word)
    if missing and outside.recorded_version(path.parent, name):
        return family.recorded(name, table)
    return family.resolve(name, table)


def _without_none(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_none(inner) for key, inner in value.items() if inner is not None}
    return value
