"""Families and members: a folder is a family, a file is a member, the file's name is the recipe's word.

Nothing is registered. The members of the family ``position`` are the modules of the package ``onechange.position``;
each holds one final class that fulfils the contract found in the package's ``__init__``. The keyword-only arguments of
its ``__init__`` *are* the member's settings. Others come from outside: what installed packages bring
(`onechange.installed`), and files that a study names (`onechange.outside`).
"""

import importlib
import inspect
import math
import pkgutil
import re
import sys
from collections.abc import Mapping
from types import ModuleType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from onechange import contract, installed, outside
from onechange.installed import Installed
from onechange.outside import Declared

MODEL_FAMILIES = ("position", "norm", "placement", "mlp", "attention", "embedding")
TRAINING_FAMILIES = ("initialization", "optimizer", "schedule")
FAMILIES = ("corpus", "tokenizer", *MODEL_FAMILIES, *TRAINING_FAMILIES)


def members(family: str) -> list[str]:
    """The words that a recipe may use for ``family``, in alphabetical order; a file is none of them."""
    return sorted({*_built_in(family), *installed.words(family)})


def member(family: str, name: str) -> type:
    """The class behind the word ``name``; a `LookupError` lists what there is."""
    if outside.is_file(name):
        _package(family)
        return outside.member(family, name)
    if name in _built_in(family):
        module = importlib.import_module(f"onechange.{family}.{name}")
        found = contract.fulfilled_in(family, module)
        assert len(found) == 1, (
            f"{module.__name__} must hold exactly one member of {family}, it holds {found}"
        )
        return found[0]
    if (brought := installed.find(family, name)) is None:
        raise LookupError(f"{family}: no member {name!r}; there is {', '.join(members(family))}")
    return brought.member()


def package(family: str, name: str) -> str | None:
    """The installed package that brings the member, with its version; ``None`` if none does."""
    brought = _brought(family, name)
    return brought.package if brought else None


def is_from_outside(family: str, name: str) -> bool:
    """Whether the word is that of a file, or of an installed package that is here or is known to be missing."""
    return outside.is_file(name) or bool(_brought(family, name)) or outside.declared(family, name) is not None


def is_here(family: str, name: str) -> bool:
    """Whether the member's code can be used in this process."""
    if outside.is_file(name):
        return outside.is_executed(family, name)
    return name in members(family)


def summary(family: str, name: str) -> str:
    """The first sentence of the member's module docstring."""
    return _paragraphs(family, name)[0]


def source(family: str, name: str) -> str:
    """Where the member's formula is from: what its module docstring, after the summary, says with a link.

    Where nothing has one, a sentence that begins with "No paper" says why; else it is empty.
    """
    said = " ".join(_paragraphs(family, name)[1:])
    sentences = re.split(r"(?<=[^A-Z][.])\s+(?=[A-Z(]|https?:)", said)
    with_link = [sentence for sentence in sentences if "://" in sentence]
    return " ".join(with_link or [one for one in sentences if one.startswith("No paper")])


def _paragraphs(family: str, name: str) -> list[str]:
    """Those of the member's module docstring, each on one line; the class's name where it has none."""
    found = member(family, name)
    text = inspect.cleandoc(sys.modules[found.__module__].__doc__ or found.__name__)
    return [" ".join(paragraph.split()) for paragraph in text.split("\n\n")]


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
    if not is_here(family, name) and (outside.is_file(name) or outside.declared(family, name)):
        return recorded(family, {"name": name, **given})
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


def recorded(family: str, table: Mapping[str, Any]) -> dict[str, Any]:
    """The member in ``table``, whose code is not here, as it was written down, with the defaults that are declared.

    A `ValueError` says that its name is no name; nothing else is known to be wrong or right.
    """
    name = table["name"]
    if outside.is_file(name):
        outside.check_name(family, name)
    known = outside.declared(family, name)
    return {"name": name, **(known.settings if known else {}), **table}


def build(family: str, resolved: Mapping[str, Any], *shared: Any) -> Any:
    """An instance of the member that ``resolved`` names, given the ``shared`` arguments of its family."""
    settings = {key: value for key, value in resolved.items() if key != "name"}
    return member(family, resolved["name"])(*shared, **settings)


def version(family: str, name: str) -> int | str:
    """The member's ``version``, raised whenever its numbers change, so that old results are not taken for new.

    Of a file it is the SHA-256 of the content, of what a package brings also the package's own.
    """
    if outside.is_file(name):
        return outside.version(family, name)
    if not is_here(family, name) and (known := outside.declared(family, name)):
        return known.version
    own = getattr(member(family, name), "version", 1)
    brought = _brought(family, name)
    return f"{brought.package}, version {own}" if brought else own


def declaration(family: str, name: str) -> Declared:
    """What is to be written down of a member from outside, for whoever will not have its code."""
    known = defaults(family, name).items()
    settings = {key: value for key, value in known if value is not inspect.Parameter.empty}
    return Declared(family, name, str(version(family, name)), settings)


def determining(family: str, resolved: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that decide numbers: without those that only say where something lies."""
    name = resolved["name"]
    places = getattr(member(family, name), "places", ()) if is_here(family, name) else ()
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
    words = {
        int: "a whole number",
        float: "a number",
        str: "text in quotes",
        bool: "true or false",
        list[str]: "a list of texts in quotes",
    }
    return words.get(kind)


def _built_in(family: str) -> list[str]:
    modules = pkgutil.iter_modules(_package(family).__path__)
    return [module.name for module in modules if not module.name.startswith("_")]


def _brought(family: str, name: str) -> Installed | None:
    return None if outside.is_file(name) or name in _built_in(family) else installed.find(family, name)


def _package(family: str) -> ModuleType:
    if family not in FAMILIES:
        raise LookupError(f"no family {family!r}; there is {', '.join(FAMILIES)}")
    return importlib.import_module(f"onechange.{family}")
