"""Members that are a file of the person's: what was executed in this process, and what is known without executing.

A study names such a member by its file, ``norm = "scale_norm.py"``. Its word in a recipe is the file's name without the
folder, its version is the SHA-256 of its content. What was executed is kept by family and name; other content under the
same name takes its place, and `version` is always that of the content which `member` comes from.
"""

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePath
from typing import Any

import msgspec

from onechange import component_file, json_file, untrusted

SHA256 = "sha256 "
"""How the version of a file begins."""


class Code(msgspec.Struct, frozen=True):
    """A member's file as it travels to other processes: no path, since they may be on other machines."""

    family: str
    name: str
    source: str

    @property
    def version(self) -> str:
        """What stands for the content in a recipe's identity."""
        return SHA256 + hashlib.sha256(self.source.encode()).hexdigest()


class Declared(msgspec.Struct, frozen=True):
    """What a study's folder tells of a member from outside: enough to read settings, nothing to execute."""

    family: str
    name: str
    version: str
    settings: dict[str, Any]
    """Those with a default, and their defaults."""

    @property
    def key(self) -> str:
        """What it is called in a message."""
        return f"{self.family} {self.name!r}"


_executed: dict[tuple[str, str], tuple[Code, type]] = {}
_declared: dict[tuple[str, str], Declared] = {}


def is_file(word: object) -> bool:
    """Whether a member's ``word`` stands for a file."""
    return isinstance(word, str) and word.endswith(".py")


def check_name(family: str, name: str) -> None:
    """A `ValueError` unless ``name`` is a file's name alone, which leads into no other folder."""
    if name != PurePath(name).name or "\\" in name or not name.isprintable() or name.startswith("."):
        raise ValueError(f"{family} {name!r}: must be the name of a Python file, without a folder")


def execute(codes: Iterable[Code], where: Mapping[tuple[str, str], str] | None = None) -> None:
    """Execute files and keep their members; what is kept already is not executed again.

    ``where`` says of a family and a name what an error calls the file. A `ValueError` of one line says what is wrong.
    """
    for code in codes:
        key = code.family, code.name
        if key in _executed and _executed[key][0] == code:
            continue
        check_name(*key)
        place = (where or {}).get(key, f"{code.family}/{code.name}")
        _executed[key] = code, component_file.execute(code.family, code.source, place)
        _declared.pop(key, None)


def declare(told: Iterable[Declared]) -> None:
    """Take what a study's folder tells; code of another version that was executed here is no longer its member's."""
    for one in told:
        key = one.family, one.name
        _declared[key] = one
        if key in _executed and _executed[key][0].version != one.version:
            del _executed[key]


def is_executed(family: str, name: str) -> bool:
    """Whether a member of this name can be built."""
    return (family, name) in _executed


def member(family: str, name: str) -> type:
    """The class; a `LookupError` if its file was not executed here."""
    if (family, name) not in _executed:
        raise LookupError(
            f"{family} {name!r} is a file outside of onechange, and nothing has executed it here; "
            "`onechange run STUDY` executes the files that its study names"
        )
    return _executed[family, name][1]


def declared(family: str, name: str) -> Declared | None:
    """What is known of a member without its code."""
    return _declared.get((family, name))


def version(family: str, name: str) -> str:
    """The version of the code that was executed, else of the one that was declared; else a `LookupError`."""
    if (family, name) in _executed:
        return _executed[family, name][0].version
    known = declared(family, name)
    return known.version if known else str(member(family, name))


def codes(tables: Mapping[str, Mapping[str, Any]]) -> list[Code]:
    """The files behind ``tables``, which map families to resolved members: what another process must be given."""
    return [
        _executed[family, table["name"]][0]
        for family, table in tables.items()
        if (family, table["name"]) in _executed
    ]


def recorded_version(run: Path, family: str) -> str | None:
    """What `environment.json` in a run's folder says of the version of a member from outside; else ``None``."""
    try:
        components = json_file.read(run / "environment.json", most=untrusted.SMALL).get("components")
    except (OSError, ValueError):
        return None
    found = components.get(family) if isinstance(components, dict) else None
    return found if isinstance(found, str) else None
