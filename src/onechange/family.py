"""Families and members: a folder is a family, a file is a member, the file's name is the recipe's word.

Nothing is registered. The members of the family ``position`` are the modules of the package ``onechange.position``;
each holds one final class that fulfils the contract found in the package's ``__init__``. The keyword-only arguments of
its ``__init__`` *are* the member's settings.
"""

import importlib
import inspect
import math
import pkgutil
from collections.abc import Mapping
from types import ModuleType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

MODEL_FAMILIES = ("position", "norm", "placement", "mlp", "attention", "embedding")
TRAINING_FAMILIES = ("initialization", "optimizer", "schedule")
FAMILIES = ("corpus", "tokenizer", *MODEL_FAMILIES, *TRAINING_FAMILIES)


def members(family: str) -> list[str]:
    """The words that a recipe may use for ``family``, in alphabetical order."""
    package = _package(family)
    return sorted(
        found.name for found in pkgutil.iter_modules(package.__path__) if not found.name.startswith("_")
    )


def member(family: str, name: str) -> type:
    """The class behind the word ``name``; a `LookupError` lists what there is."""
    if name not in members(family):
        raise LookupError(f"{family}: no member {name!r}; there is {', '.join(members(family))}")
    module = importlib.import_module(f"onechange.{family}.{name}")
    package = _package(family)
    contracts = tuple(
        thing
        for thing in vars(package).values()
        if inspect.isclass(thing) and thing.__module__ == package.__name__
    )
    found = [
        thing
        for thing in vars(module).values()
        if inspect.isclass(thing) and thing.__module__ == module.__name__ and issubclass(thing, contracts)
    ]
    assert len(found) == 1, f"{module.__name__} must hold exactly one member of {family}, it holds {found}"
    return found[0]


def summary(family: str, name: str) -> str:
    """The first sentence of the member's module docstring."""
    member(family, name)
    text = inspect.getdoc(importlib.import_module(f"onechange.{family}.{name}")) or ""
    return text.split("\n\n")[0].replace("\n", " ")


def defaults(family: str, name: str) -> dict[str, Any]:
    """The member's settings and their default values, in the order of its ``__init__``."""
    parameters = inspect.signature(member(family, name).__init__).parameters.values()
    return {p.name: p.default for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY}


def resolve(family: str, choice: str | Mapping[str, Any]) -> dict[str, Any]:
    """``"rope"`` or ``{name = "rope", theta = 500.0}`` with every default filled in and every value checked.

    Raises a `LookupError` for an unknown member or setting and a `ValueError` for a value of the wrong type.
    """
    if not isinstance(choice, str | Mapping):
        raise ValueError(f"{family} = {choice!r}: must be a member's name or a table")
    given: dict[str, Any] = {"name": choice} if isinstance(choice, str) else dict(choice)
    name = given.pop("name", None)
    if not isinstance(name, str):
        raise ValueError(f'{family}: a table needs name = "…", one of {", ".join(members(family))}')
    settings = defaults(family, name)
    types = get_type_hints(member(family, name).__init__)
    for key, value in given.items():
        if key not in settings:
            allowed = ", ".join(settings) or "none"
            raise LookupError(f"{family} {name!r}: no setting {key!r}; its settings are: {allowed}")
        settings[key] = checked(f"{family}.{key}", value, types[key])
    missing = [key for key, value in settings.items() if value is inspect.Parameter.empty]
    if missing:
        raise ValueError(f"{family} {name!r}: the setting {missing[0]!r} must be given")
    return {"name": name, **settings}


def build(family: str, resolved: Mapping[str, Any], *shared: Any) -> Any:
    """An instance of the member that ``resolved`` names, given the ``shared`` arguments of its family."""
    settings = {key: value for key, value in resolved.items() if key != "name"}
    return member(family, resolved["name"])(*shared, **settings)


def version(family: str, name: str) -> int:
    """The member's ``version``, raised whenever its numbers change, so that old results are not taken for new."""
    return getattr(member(family, name), "version", 1)


def determining(family: str, resolved: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that decide numbers: without those that only say where something lies."""
    known = resolved["name"] in members(family)
    places = getattr(member(family, resolved["name"]), "places", ()) if known else ()
    return {key: value for key, value in resolved.items() if key not in places}


def checked(key: str, value: Any, kind: Any) -> Any:
    """``value`` as ``kind``, strictly; a `ValueError` names ``key``, the value and what is allowed."""
    try:
        converted = msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise ValueError(f"{key} = {value!r}: must be {_described(kind) or error}") from None
    if isinstance(converted, float) and not math.isfinite(converted):
        raise ValueError(f"{key} = {value!r}: must be a finite number")
    return converted


def _described(kind: Any) -> str | None:
    """What a study file may say where ``kind`` is wanted, in words."""
    if get_origin(kind) is Literal:
        return "one of " + ", ".join(map(repr, get_args(kind)))
    if get_origin(kind) in (Union, UnionType):
        described = [_described(one) for one in get_args(kind) if one is not type(None)]
        return " or ".join(one for one in described if one)
    words = {int: "a whole number", float: "a number", str: "text in quotes", bool: "true or false"}
    return words.get(kind)


def _package(family: str) -> ModuleType:
    if family not in FAMILIES:
        raise LookupError(f"no family {family!r}; there is {', '.join(FAMILIES)}")
    return importlib.import_module(f"onechange.{family}")
