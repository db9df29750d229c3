"""Members that installed packages bring, as entry points of the group ``onechange.<family>``.

An entry point's name is the recipe's word. It leads to a module that holds one member, or to the class. See
https://packaging.python.org/en/latest/specifications/entry-points/
"""

import functools
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from types import ModuleType

from onechange import contract, outside

GROUP = "onechange."


@dataclass(frozen=True)
class Installed:
    """A word that a package brings to a family."""

    family: str
    word: str
    package: str
    """Its name and version."""
    entry: metadata.EntryPoint

    def member(self) -> type:
        """The class; a `ValueError` of one line names the package and says what is wrong with it."""
        where = f"{self.family} {self.word!r} of the package {self.package}"
        try:
            found = self.entry.load()
        except Exception as error:
            said = " ".join([f"{type(error).__name__}:", *str(error).split()])
            raise ValueError(f"{where}: {self.entry.value} cannot be imported: {said}") from error
        if isinstance(found, ModuleType):
            return contract.only_one(self.family, found, where)
        if not isinstance(found, type):
            raise ValueError(f"{where}: {self.entry.value} is neither a module nor a class")
        contract.check(found, self.family, where)
        return found


def words(family: str) -> list[str]:
    """The words that packages bring to ``family``; none is imported."""
    return sorted({one.word for one in _found(family, tuple(sys.path))})


def find(family: str, word: str) -> Installed | None:
    """Whoever brings ``word``, if anyone does; a `LookupError` names both if two packages do."""
    found = [one for one in _found(family, tuple(sys.path)) if one.word == word]
    if len(found) > 1:
        packages = " and ".join(one.package for one in found)
        raise LookupError(f"{family} {word!r}: {packages} both bring it; uninstall one of them")
    return found[0] if found else None


@functools.cache  # the answer for a search path; going through all packages takes a while
def _found(family: str, path: Sequence[str]) -> list[Installed]:
    found = [
        Installed(family, entry.name, f"{entry.dist.name} {entry.dist.version}", entry)
        for entry in metadata.entry_points(group=f"{GROUP}{family}")
        if entry.dist is not None and not outside.is_file(entry.name)
    ]
    return sorted(found, key=lambda one: one.package)
