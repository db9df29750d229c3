"""What differs between two studies or two recipes, in words: a resume that is refused says why."""

from collections.abc import Mapping
from typing import Any

import msgspec

from onechange import family
from onechange.outside import SHA256
from onechange.recipe import Recipe
from onechange.study import Study

ABSENT = "not there"


def of_studies(held: Study, now: Study) -> str:
    """Every setting that differs, the arms first; empty where the two say the same."""
    found: list[str] = []
    if held.arm_names != now.arm_names and sorted(held.arm_names) == sorted(now.arm_names):
        found.append(
            f"the order of the arms was {', '.join(held.arm_names)}, is now {', '.join(now.arm_names)}"
        )
    if held.base_name != now.base_name:
        found.append(f"the base was called {held.base_name}, is now called {now.base_name}")
    found += _tables(f"arm {now.base_name!r}", _without_name(held.base), _without_name(now.base))
    before, after = ({arm.name: arm for arm in study.arms} for study in (held, now))
    for name in dict.fromkeys((*before, *after)):
        old, new = before.get(name), after.get(name)
        if old is None or new is None:
            found.append(f"arm {name!r} was {'added' if old is None else 'taken out'}")
            continue
        if old.parent != new.parent:
            found.append(f"arm {name!r}: from was {old.parent}, is now {new.parent}")
        found += _tables(f"arm {name!r}", old.change, new.change)
    scales = dict.fromkeys((*held.scales, *now.scales))
    for name in scales:
        found += _tables(f"scale.{name}", held.scales.get(name, {}), now.scales.get(name, {}))
    for key in ("question", "corpus", "test", "tune", "prompts", "demonstration"):
        before, after = (
            ABSENT if getattr(study, key) is None else getattr(study, key) for study in (held, now)
        )
        found += _values(key, before, after)
    found += _tables("sampling", held.sampling, now.sampling)
    return "; ".join(found)


def of_recipes(held: Recipe, now: Recipe) -> str:
    """The same of two runs' recipes. A corpus is the same where its fingerprint is, wherever it came from, and so
    is a tokenizer."""
    before, after = (msgspec.to_builtins(recipe) for recipe in (held, now))
    del before["corpus"], after["corpus"]
    for content in (before, after):
        content["tokenizer"] = family.determining("tokenizer", content["tokenizer"])
    return "; ".join(_differences(before, after))


def of_versions(held: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """Which component's version changed; ``held`` and ``now`` map a family to the version of the member in use."""
    return "; ".join(
        _of_version(name, held.get(name, ABSENT), now.get(name, ABSENT))
        for name in dict.fromkeys((*held, *now))
        if held.get(name) != now.get(name)
    )


def _of_version(name: str, held: Any, now: Any) -> str:
    marks = [str(version).removeprefix(SHA256)[:12] for version in (held, now)]
    if all(str(version).startswith(SHA256) for version in (held, now)):
        return f"the code of the {name} has changed (its SHA-256 was {marks[0]}…, is now {marks[1]}…)"
    return f"the version of the {name} was {held}, is now {now}"


def _tables(where: str, held: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    return [f"{where}: {difference}" for difference in _differences(held, now)]


def _differences(held: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    return [
        difference
        for key in dict.fromkeys((*held, *now))
        for difference in _values(key, held.get(key, ABSENT), now.get(key, ABSENT))
    ]


def _values(key: str, held: Any, now: Any) -> list[str]:
    """Nothing where the two are equal; of two tables of the same member only the settings that differ."""
    if held == now:
        return []
    if isinstance(held, dict) and isinstance(now, dict) and held.get("name") == now.get("name"):
        return [f"{key}.{difference}" for difference in _differences(held, now)]
    if isinstance(held, list) and isinstance(now, list):
        return [_lists(key, held, now)]
    return [f"{key} was {_shown(held)}, is now {_shown(now)}"]


def _lists(key: str, held: list[Any], now: list[Any]) -> str:
    """The first place at which two lists differ."""
    place = next((at for at, pair in enumerate(zip(held, now, strict=False)) if pair[0] != pair[1]), None)
    if place is None:
        return f"{key} were {len(held)}, are now {len(now)}"
    return f"{key}, number {place + 1}: was {_shown(held[place])}, is now {_shown(now[place])}"


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        settings = ", ".join(f"{key} = {inner!r}" for key, inner in value.items() if key != "name")
        return f"{value.get('name', 'a table')}{f' ({settings})' if settings else ''}"
    return value if isinstance(value, str) else repr(value)


def _without_name(base: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in base.items() if key != "name"}
