"""What the test file of a member, `tests/<family>/test_<member>.py`, says about it.

``turns``: for each of its settings a value and another that makes a difference.
``text_length``: tokens of a text (for a schedule: steps of a run) on which the difference shows.
"""

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from onechange import family


def facts(kind: str, name: str) -> ModuleType:
    path = Path(__file__).parents[1] / kind / f"test_{name}.py"
    assert path.is_file(), f"{path} is missing: every member has a test of its own"
    spec = importlib.util.spec_from_file_location(f"facts_of_{kind}_{name}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def turns(kind: str, name: str) -> dict[str, tuple[Any, Any]]:
    """Fails for a setting without an entry."""
    found: dict[str, tuple[Any, Any]] = facts(kind, name).turns
    assert found.keys() == family.defaults(kind, name).keys(), (
        f"turns of {kind}/{name}: one entry per setting"
    )
    return found


def resolved(kind: str, name: str, **other: Any) -> dict[str, Any]:
    first = {setting: value for setting, (value, _) in turns(kind, name).items()}
    return family.resolve(kind, {"name": name, **first, **other})


def wrong_settings_are_named(kind: str, name: str) -> None:
    assert getattr(family.member(kind, name), "__final__", False), "a member is final"
    assert len(family.summary(kind, name)) > 20, "a member's docstring says in one sentence what it is"
    with pytest.raises(LookupError, match=rf"{kind} '{name}': no setting 'surplus'; its settings are: \w+"):
        family.resolve(kind, {"name": name, "surplus": 1})
    for setting, (value, _) in turns(kind, name).items():
        for wrong in (
            [1],
            {"a": 1},
            *([float("nan"), float("inf"), "much"] if isinstance(value, float) else []),
        ):
            with pytest.raises(ValueError, match=rf"{kind}\.{setting} = ") as caught:
                family.resolve(kind, {"name": name, setting: wrong})
            assert repr(wrong) in str(caught.value)
            assert "\n" not in str(caught.value)
