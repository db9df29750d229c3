"""What differs between the recipes of two runs, setting by setting, and what of it makes other numbers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from onechange.outside import SHA256
from onechange.recipe import Recipe
from onechange.settings import shown

APART = ("threads", "device", "compile", "micro_batch", "activations")
"""How a run is computed: another choice gives the same numbers up to rounding, so it is not a change."""
_NO_SETTING = ("seed", "corpus", "corpus_fingerprint", "format")


@dataclass(frozen=True)
class Setting:
    """One value that two recipes have differently, as a study file says it."""

    setting: str
    first: Any
    second: Any

    def __str__(self) -> str:
        return f"{self.setting}: {_said(self.first)} → {_said(self.second)}"


@dataclass(frozen=True)
class Change:
    """One thing in the sense of the first law: a member of a family with its settings, or one size."""

    thing: str
    settings: tuple[Setting, ...]

    def __str__(self) -> str:
        return ", ".join(map(str, self.settings))


def changes(
    first: Recipe,
    second: Recipe,
    first_versions: Mapping[str, int | str] | None,
    second_versions: Mapping[str, int | str] | None,
) -> tuple[list[Change], list[Setting]]:
    """The things that differ and count, and the settings that differ `APART`.

    ``first_versions`` and ``second_versions`` say of each family which version of its member made the numbers: two
    versions of one member differ. Where either is ``None``, versions are left out.
    """
    if first_versions is None or second_versions is None:
        first_versions = second_versions = {}
    before, after = (msgspec.to_builtins(recipe) for recipe in (first, second))
    counting, apart = [], []
    for key in dict.fromkeys((*before, *after)):
        if key in _NO_SETTING:
            continue
        found = _settings(key, before.get(key), after.get(key))
        versions = first_versions.get(key), second_versions.get(key)
        another_member = any(setting.setting == key for setting in found)
        if not another_member and versions[0] != versions[1]:
            found.append(Setting(f"{key}, version", *versions))
        if key in APART:
            apart += found
        elif found:
            counting.append(Change(key, tuple(found)))
    return counting, apart


def _settings(key: str, first: Any, second: Any) -> list[Setting]:
    """Of two tables of the same member, only the settings that differ."""
    if first == second:
        return []
    if isinstance(first, dict) and isinstance(second, dict) and first.get("name") == second.get("name"):
        return [
            Setting(f"{key}.{inner}", first.get(inner), second.get(inner))
            for inner in dict.fromkeys((*first, *second))
            if first.get(inner) != second.get(inner)
        ]
    return [Setting(key, first, second)]


def _said(value: Any) -> str:
    if isinstance(value, dict) and "name" in value:
        return shown(value)
    if isinstance(value, str):  # of a file's SHA-256 the beginning
        return f"{value[: len(SHA256) + 12]}…" if value.startswith(SHA256) else value
    return repr(value)
