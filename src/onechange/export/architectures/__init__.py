"""Architectures of transformers and which models of ours each is, to the letter. One file per architecture."""

import importlib
import pkgutil
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from onechange.model import Model

Parts = Mapping[str, Mapping[str, Any]]
"""Each family of the model and its resolved member."""
Takes = Mapping[str, Mapping[str, Mapping[str, Collection[Any]]]]
"""By family: the members that it may be, and of each the values that a setting may have, any where nothing is said."""


@dataclass(frozen=True)
class Architecture:
    """One of transformers' models."""

    name: str
    """Of its class, such as ``"GPT2LMHeadModel"``."""
    configuration: str
    """The class of its configuration."""
    takes: Takes
    settings: Callable[[Model, Parts], dict[str, Any]]
    """The keys of its configuration, but for those that all architectures share."""
    weights: Callable[[Model], dict[str, Tensor]]
    """The tensors of its checkpoint by name, each once."""
    drops: bool
    """Whether it has the dropout that ours is trained with."""
    older: Callable[[Mapping[str, Any]], dict[str, Any]] = lambda settings: {}
    """What earlier versions of transformers read in place of some of these settings, by their keys."""
    remarks: Callable[[Model, Parts], list[str]] = lambda model, parts: []
    """What a reader should know of the way from ours to it, one sentence each."""

    def misfits(self, parts: Parts) -> list[str]:
        """What of ``parts`` it has not, as a study file says it."""
        found = []
        for family, members in self.takes.items():
            part = parts[family]
            if part["name"] not in members:
                found.append(f'{family} = "{part["name"]}"')
                continue
            for setting, allowed in members[part["name"]].items():
                if part[setting] not in allowed:
                    found.append(f"{family}.{setting} = {_said(part[setting])}")
        return found


def every() -> list[Architecture]:
    """All of them, those first that models are given as where several fit."""
    names = (found.name for found in pkgutil.iter_modules(__path__) if not found.name.startswith("_"))
    modules = [importlib.import_module(f"{__name__}.{name}") for name in names]
    return [module.ARCHITECTURE for module in modules]


def fitting(parts: Parts) -> Architecture:
    """The one that ``parts`` make a model of; a `ValueError` says what the nearest lacks."""
    nearest = min(every(), key=lambda one: len(one.misfits(parts)))
    if misfits := nearest.misfits(parts):
        raise ValueError(
            f"{', '.join(misfits)}: no architecture of transformers has that with the rest of this model (the nearest "
            f"is {nearest.name}); `--to safetensors` writes every model"
        )
    return nearest


def _said(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else repr(value)
