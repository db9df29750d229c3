"""Sweeps: one arm of a study file that stands for several, the same setting at one value after another.

``vary.position.theta = [500, 10000]`` in the arm ``theta`` makes the arms ``theta-500`` and ``theta-10000``, each a
child of the same parent that changes this one thing.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec


class Sweep(msgspec.Struct, frozen=True):
    """Where an arm that a sweep made comes from."""

    name: str
    """The arm of the study file."""
    setting: str
    """What is varied, such as ``position.theta`` or ``width``."""
    value: Any


def path(where: str, table: Any) -> tuple[str, str | None, list[Any]]:
    """Key, setting (``None`` for a size or a family's members) and values of a table like ``{position: {theta: […]}}``.

    A `ValueError` beginning with ``where`` says what is wrong: more than one thing, or no list of different values.
    """
    if not isinstance(table, Mapping) or len(table) != 1:
        keys = ", ".join(map(str, table)) if isinstance(table, Mapping) else repr(table)
        raise ValueError(f"{where} names {keys or 'nothing'}: it names exactly one setting")
    ((key, found),) = table.items()
    setting = None
    if isinstance(found, Mapping):
        if len(found) != 1:
            raise ValueError(
                f"{where}.{key} names {', '.join(found) or 'nothing'}: it names exactly one setting"
            )
        ((setting, found),) = found.items()
    full = f"{where}.{key}" + (f".{setting}" if setting is not None else "")
    if not isinstance(found, list) or not found:
        raise ValueError(f"{full} = {found!r}: must be a list of values")
    if not all(type(value) in (int, float, str, bool) for value in found):
        raise ValueError(f"{full} = {found!r}: must hold numbers or words only")
    if len({*map(word, found)}) < len(found):
        raise ValueError(f"{full} = {found!r}: its values must differ")
    return key, setting, found


def word(value: Any) -> str:
    """A value as part of an arm's name."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value).replace("+", "")


def expanded(arms: Any) -> Any:
    """The list of arms of a study file with every sweep in it spelled out; what is no sweep is left as it is."""
    if not isinstance(arms, list):
        return arms
    return [arm for given in arms for arm in _expanded(given)]


def _expanded(arm: Any) -> Iterator[Any]:
    if not isinstance(arm, Mapping) or "vary" not in arm:
        yield arm
        return
    where = f"arm {arm.get('name')!r}: vary"
    key, setting, values = path(where, arm["vary"])
    rest = {inner: value for inner, value in arm.items() if inner not in ("vary", "change")}
    change = arm.get("change", {})
    if not isinstance(change, Mapping) or not {*change} <= {key}:
        raise ValueError(f"{where}.{key}: the arm's change must be of {key} too, or be left out")
    fixed = change.get(key, {})
    if setting is None and fixed:
        raise ValueError(f"{where}.{key}: it takes the place of change.{key}, which must be left out")
    fixed = {"name": fixed} if isinstance(fixed, str) else fixed
    for value in values:
        yield {
            **rest,
            "name": f"{arm.get('name')}-{word(value)}",
            "change": {key: value if setting is None else {**fixed, setting: value}},
            "sweep": {
                "name": arm.get("name"),
                "setting": key if setting is None else f"{key}.{setting}",
                "value": value,
            },
        }
