"""The members that a study file names by file, found in its table before anything is made of it."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from onechange import component_file, outside
from onechange.family import FAMILIES
from onechange.outside import Code


def with_names(table: Mapping[str, Any]) -> dict[str, Any]:
    """The study's table with the file's name in the place of every path to a file."""

    def name(family: str, word: str) -> str:
        outside.check_name(family, Path(word).name)
        return Path(word).name

    return _replaced(table, name)


def execute(table: Mapping[str, Any], folder: Path) -> None:
    """Read and execute every file that the study's table names; paths begin in ``folder``, where the study file lies.

    Raises a `LookupError` or `ValueError` of one line that names the file.
    """
    found: dict[tuple[str, str], Path] = {}

    def see(family: str, word: str) -> str:
        key, path = (family, Path(word).name), folder / word
        if found.setdefault(key, path).resolve() != path.resolve():
            raise ValueError(
                f"{family} {key[1]!r}: {found[key]} and {path} have one name: files of one family need different names"
            )
        return word

    _replaced(table, see)
    codes = [
        Code(family, name, component_file.read(path, f"{family} {name!r}"))
        for (family, name), path in found.items()
    ]
    outside.execute(codes, {key: str(path) for key, path in found.items()})


def _replaced(table: Mapping[str, Any], change: Callable[[str, str], str]) -> dict[str, Any]:
    """The table with ``change`` of a family and a word in the place of the word of every file.

    What is not as a study has it stays as it is: that is said where the study is made.
    """

    def choices(given: Any) -> Any:
        if not isinstance(given, Mapping):
            return given
        return {key: choice(key, value) if key in FAMILIES else value for key, value in given.items()}

    def choice(family: str, value: Any) -> Any:
        if outside.is_file(value):
            return change(family, value)
        if isinstance(value, list):
            return [choice(family, one) for one in value]
        if isinstance(value, Mapping) and "name" in value:
            return {**value, "name": choice(family, value["name"])}
        return value

    def arm(given: Any) -> Any:
        if not isinstance(given, Mapping):
            return given
        return {key: choices(value) if key in ("change", "vary") else value for key, value in given.items()}

    replaced = dict(choices(table))
    if "base" in table:
        replaced["base"] = choices(table["base"])
    if isinstance(table.get("scale"), Mapping):
        replaced["scale"] = {key: choices(value) for key, value in table["scale"].items()}
    if isinstance(table.get("arm"), list):
        replaced["arm"] = [arm(one) for one in table["arm"]]
    return replaced
