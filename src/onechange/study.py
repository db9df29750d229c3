"""A study file: a question, a base, arms that each change one thing, scales, prompts.

Settings resolve in one order: defaults, base, scale, change. A table for a member without ``name`` keeps the parent's
member and its other settings; with ``name`` it starts from that member's defaults.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from onechange import family, sampling, scaled, tuning
from onechange.sampling import Sampling
from onechange.scale import SCALES
from onechange.settings import (
    ARM_FAMILIES,
    CHANGEABLE_SIZES,
    DEFAULTS,
    check_ranges,
    check_scaled,
    member,
    plain,
    shown,
)
from onechange.splitting import MOST_TEST
from onechange.sweep import Sweep
from onechange.tuning import Tuning

DEMONSTRATION = "Lucy found a small box under her bed. When she opened it,"
"""The sentence that shows how tokenizers split, and the prompt where none is given: the article's first."""
_DEVICES = {
    "con",
    "prn",
    "aux",
    "nul",
    *(f"{port}{number}" for port in ("com", "lpt") for number in range(10)),
}
"""Names that no file of Windows has, whatever their ending."""


class Arm(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"parent": "from"}):
    """A named variant: its parent with one change."""

    name: str
    parent: str
    change: dict[str, Any]
    sweep: Sweep | None = None
    """Which sweep of the study file made it, if one did."""


class Study(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"arms": "arm", "scales": "scale"}
):
    """The file as written, with its names checked. `settings` resolves an arm under a scale, `sampled` the sampling."""

    question: str
    base: dict[str, Any]
    prompts: list[str] = []
    corpus: str | dict[str, Any] = "tinystories"
    sampling: dict[str, Any] = {}
    demonstration: str = DEMONSTRATION
    arms: list[Arm] = []
    scales: dict[str, dict[str, Any]] = {}
    tune: dict[str, Any] = {}
    test: float | None = None
    """The share of the text put aside for a test; ``None``: what the corpus says, or as much as tuning needs."""

    def __post_init__(self) -> None:
        if "" in self.prompts:
            raise ValueError('prompts: "" is empty, there is nothing to continue')
        names = self.arm_names
        for name in names:
            if not (isinstance(name, str) and re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", name)):
                raise ValueError(
                    f"arm {name!r}: a name has 1 to 64 letters, digits, '.', '_' or '-', a letter or digit first"
                )
            if name.endswith(".") or name.partition(".")[0].lower() in _DEVICES:
                raise ValueError(f"arm {name!r}: Windows can have no folder of this name; choose another")
            if names.count(name) > 1:
                raise ValueError(f"arm {name!r} stands twice: names must differ")
            if twin := next((one for one in names if one != name and one.lower() == name.lower()), None):
                raise ValueError(
                    f"arms {name!r} and {twin!r}: names must differ in more than capitals, or Windows and macOS give "
                    "both one folder"
                )
        for place, arm in enumerate(self.arms):
            if arm.parent not in names[: place + 1]:
                raise ValueError(
                    f"arm {arm.name!r}: from = {arm.parent!r} is no arm before it; "
                    f"there is {', '.join(names[: place + 1])}"
                )
        for place, settings in [("base", self.base), *((f"scale.{k}", v) for k, v in self.scales.items())]:
            allowed = (*DEFAULTS, "name" if place == "base" else "sampling")
            for key in settings:
                if key not in allowed:
                    raise ValueError(f"{place}: unknown key {key!r}; allowed: {', '.join(allowed)}")
        for place, settings in self.scales.items():
            for key in ARM_FAMILIES:
                check_scaled(f"scale.{place}", key, settings.get(key, {}))
            sampling.check(f"scale.{place}.sampling", settings.get("sampling", {}))
        if self.test is not None and not 0 <= self.test <= MOST_TEST:
            raise ValueError(
                f"test = {self.test}: must be from 0 to {MOST_TEST}, the share of the text put aside"
            )
        if (tuned := self.tuning) is None:
            return
        if self.test == 0:
            raise ValueError(
                "test = 0: tuning chooses on validation text and is judged on test text; leave test out, or above 0"
            )
        if tuned.key not in (CHANGEABLE_SIZES if tuned.setting is None else ARM_FAMILIES):
            allowed = [*(f"{key}.SETTING" for key in ARM_FAMILIES), *CHANGEABLE_SIZES]
            raise ValueError(f"tune.{tuned.path} is not allowed; one of {', '.join(allowed)}")
        for arm in self.arms:
            change = arm.change.get(tuned.key)
            if change is not None and (tuned.setting is None or tuned.setting in change):
                raise ValueError(
                    f"arm {arm.name!r} changes {tuned.path}, which is tuned: one of the two must go"
                )
        for name in (tuned.name(arm, value) for arm in names for value in tuned.values):
            if name in names:
                raise ValueError(f"arm {name!r}: tuning makes an arm of this name too")

    @property
    def tuning(self) -> Tuning | None:
        """What every arm is tuned in, if anything is."""
        return tuning.read(self.tune)

    def test_share(self, corpus: Mapping[str, Any]) -> float:
        """How much of the text of the resolved ``corpus`` is put aside for the test."""
        if self.test is not None:
            return self.test
        return corpus["test"] or (tuning.TEST if self.tune else 0.0)

    @property
    def base_name(self) -> str:
        """The name of the arm that has no parent."""
        return self.base.get("name", "base")

    @property
    def arm_names(self) -> list[str]:
        """Every arm that the file names or a sweep makes, the base first."""
        return [self.base_name, *(arm.name for arm in self.arms)]

    def names(self, scale: str) -> list[str]:
        """The arms that there are under ``scale``: at a sweep's value that is the parent's own, the parent stands."""
        parents = {arm.parent for arm in self.arms}
        return [
            name
            for name in self.arm_names
            if (arm := self.arm(name)) is None
            or arm.sweep is None
            or name in parents
            or self.settings(name, scale) != self.settings(arm.parent, scale)
        ]

    def candidates(self, name: str, scale: str) -> dict[Any, str]:
        """Every value at which arm ``name`` is run, with the name it has there; without tuning there is none."""
        if (tuned := self.tuning) is None:
            return {}
        own = tuned.own(self.settings(name, scale))
        values = [*dict.fromkeys([*tuned.values, own])]
        if all(type(value) in (int, float) for value in values):
            values.sort()
        return {value: name if value == own else tuned.name(name, value) for value in values}

    def run_names(self, scale: str, arms: Sequence[str] | None = None) -> list[str]:
        """Whatever has runs of its own: ``arms`` (all of `names`), then each of them at the values of the tuning."""
        names = self.names(scale) if arms is None else list(arms)
        tuned = [other for name in names for other in self.candidates(name, scale).values() if other != name]
        return names + tuned

    def arm(self, name: str) -> Arm | None:
        """The arm of this name, ``None`` for the base; a `LookupError` lists the arms."""
        if name == self.base_name:
            return None
        for arm in self.arms:
            if arm.name == name:
                return arm
        if (tuned := self.tuning) is not None:
            for parent in self.arm_names:
                for value in tuned.values:
                    if tuned.name(parent, value) == name:
                        return Arm(name, parent, tuned.change(value))
        raise LookupError(f"no arm {name!r} in this study; there is {', '.join(self.arm_names)}")

    def settings(self, name: str, scale: str) -> dict[str, Any]:
        """Every setting of an arm under a scale, resolved and checked.

        Raises `ValueError` or `LookupError` for anything that the one-change rule or a member forbids.
        """
        said = self.scale(scale)
        arm = self.arm(name)
        if arm is None:
            return self._base(said)
        where = f"arm {name!r}"
        if len(arm.change) != 1:
            keys = ", ".join(arm.change) or "nothing"
            raise ValueError(f"{where} changes {keys}: an arm changes exactly one thing")
        ((key, value),) = arm.change.items()
        if key not in ARM_FAMILIES + CHANGEABLE_SIZES:
            raise ValueError(
                f"{where}: change.{key} is not allowed; one of {', '.join(ARM_FAMILIES + CHANGEABLE_SIZES)}"
            )
        parent = self.settings(arm.parent, scale)
        try:
            changed = member(key, value, parent[key], said) if key in ARM_FAMILIES else plain(key, value)
            check_ranges({**parent, key: changed})
        except (ValueError, LookupError) as error:
            raise type(error)(f"{where}: {error.args[0]}") from None
        made = (
            arm.sweep is not None or name not in self.arm_names
        )  # values of a list: the parent's may be among them
        if changed == parent[key] and not made:
            raise ValueError(
                f"{where}: change.{key} changes nothing: {arm.parent!r} has {shown(changed)} too"
            )
        return {**parent, key: changed}

    def scale(self, name: str) -> dict[str, Any]:
        """The settings that a scale gives an arm: the built-in ones, overridden by the study's own."""
        found, own = self._scale(name)
        for key, value in own.items():
            both = key in ARM_FAMILIES and key in found
            found[key] = scaled.joined(found[key], value) if both else value
        found.pop("sampling", None)
        return found

    def sampled(self, scale: str) -> Sampling:
        """How prompts are continued under ``scale``. What the study says is stronger than what is built in."""
        built_in, own = (settings.get("sampling", {}) for settings in self._scale(scale))
        return sampling.layered(built_in, self.sampling, own)

    def _scale(self, name: str) -> tuple[dict[str, Any], dict[str, Any]]:
        """What is built in of a scale, and what the study says of it."""
        if name not in SCALES and name not in self.scales:
            known = ", ".join([*SCALES, *(own for own in self.scales if own not in SCALES)])
            raise LookupError(f"no scale {name!r}; there is {known}")
        return dict(SCALES.get(name, {})), dict(self.scales.get(name, {}))

    def _base(self, scale: Mapping[str, Any]) -> dict[str, Any]:
        given = {**DEFAULTS, **{key: value for key, value in self.base.items() if key != "name"}}
        resolved: dict[str, Any] = {}
        for key, value in given.items():
            if key in ARM_FAMILIES:
                own = member(key, value, family.resolve(key, DEFAULTS[key]), {})
                resolved[key] = member(key, scaled.of_member(scale.get(key, {}), own["name"]), own, {})
            else:
                own = plain(key, value)
                resolved[key] = plain(key, scale[key]) if key in scale else own
        check_ranges(resolved)
        return resolved
