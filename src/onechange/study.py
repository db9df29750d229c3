"""A study file: a question, a base, arms that each change one thing, scales, prompts.

Settings resolve in one order: defaults, base, scale, change. A table for a member without ``name`` keeps the parent's
member and its other settings; with ``name`` it starts from that member's defaults.
"""

import math
import re
import tomllib
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

import msgspec

from onechange import family
from onechange.recipe import Recipe
from onechange.scale import SCALES

ARM_FAMILIES = ("tokenizer", *family.MODEL_FAMILIES, *family.TRAINING_FAMILIES)
CHANGEABLE_SIZES = ("window", "width", "layers", "heads", "batch", "dropout")

DEFAULTS: dict[str, Any] = {
    "tokenizer": "character",
    "position": "learned",
    "norm": "layer",
    "mlp": "gelu",
    "attention": "heads",
    "optimizer": "adamw",
    "schedule": "cosine",
    "layers": 4,
    "heads": 4,
    "width": 128,
    "window": 128,
    "dropout": 0.0,
    "batch": 16,
    "budget": {"steps": 1000},
    "evaluate_every": 100,
    "clip": 1.0,
    "precision": "auto",
    "compile": "auto",
    "threads": 0,
}
DEMONSTRATION = "Lucy found a small box under her bed. When she opened it,"
"""The sentence that shows how tokenizers split, and the prompt where none is given: the article's first."""

_TYPES: dict[str, Any] = {
    **dict.fromkeys(("layers", "heads", "width", "window", "batch", "evaluate_every", "threads"), int),
    "dropout": float,
    "clip": float,
    "budget": dict[str, int],
    "precision": str,
    "compile": str,
}
_WORDS = {"precision": ("auto", "bf16", "float32"), "compile": ("auto", "on", "off")}


class Arm(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"parent": "from"}):
    """A named variant: its parent with one change."""

    name: str
    parent: str
    change: dict[str, Any]


class Sampling(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the prompts are continued; the article's settings by default."""

    seed: int = 42
    temperature: float = 0.7
    top_k: int = 30
    tokens: int = 180

    def __post_init__(self) -> None:
        if not (self.temperature >= 0 and math.isfinite(self.temperature)):
            raise ValueError(f"temperature = {self.temperature}: must be a finite number, at least 0")
        for key, least in (("seed", 0), ("top_k", 1), ("tokens", 1)):
            if getattr(self, key) < least:
                raise ValueError(f"{key} = {getattr(self, key)}: must be at least {least}")


class Study(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"arms": "arm", "scales": "scale"}
):
    """The file as written, with its names checked. `settings` resolves an arm under a scale."""

    question: str
    base: dict[str, Any]
    prompts: list[str] = []
    corpus: str | dict[str, Any] = "tinystories"
    sampling: Sampling = Sampling()
    demonstration: str = DEMONSTRATION
    arms: list[Arm] = []
    scales: dict[str, dict[str, Any]] = {}

    def __post_init__(self) -> None:
        if "" in self.prompts:
            raise ValueError('prompts: "" is empty, there is nothing to continue')
        names = self.arm_names
        for name in names:
            if not (isinstance(name, str) and re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", name)):
                raise ValueError(
                    f"arm {name!r}: a name has 1 to 64 letters, digits, '.', '_' or '-', a letter or digit first"
                )
            if names.count(name) > 1:
                raise ValueError(f"arm {name!r} stands twice: names must differ")
        for place, arm in enumerate(self.arms):
            if arm.parent not in names[: place + 1]:
                raise ValueError(
                    f"arm {arm.name!r}: from = {arm.parent!r} is no arm before it; "
                    f"there is {', '.join(names[: place + 1])}"
                )
        for place, settings in [("base", self.base), *((f"scale.{k}", v) for k, v in self.scales.items())]:
            for key in settings:
                if key not in DEFAULTS and not (place == "base" and key == "name"):
                    raise ValueError(f"{place}: unknown key {key!r}; allowed: {', '.join(DEFAULTS)}")
        for place, settings in self.scales.items():
            for key in ARM_FAMILIES:
                _check_scaled(f"scale.{place}", key, settings.get(key, {}))

    @property
    def base_name(self) -> str:
        """The name of the arm that has no parent."""
        return self.base.get("name", "base")

    @property
    def arm_names(self) -> list[str]:
        """Every arm, the base first."""
        return [self.base_name, *(arm.name for arm in self.arms)]

    def arm(self, name: str) -> Arm | None:
        """The arm of this name, ``None`` for the base; a `LookupError` lists the arms."""
        if name == self.base_name:
            return None
        for arm in self.arms:
            if arm.name == name:
                return arm
        raise LookupError(f"no arm {name!r} in this study; there is {', '.join(self.arm_names)}")

    def settings(self, name: str, scale: str) -> dict[str, Any]:
        """Every setting of an arm under a scale, resolved and checked.

        Raises `ValueError` or `LookupError` for anything that the one-change rule or a member forbids.
        """
        scaled = self.scale(scale)
        arm = self.arm(name)
        if arm is None:
            return self._base(scaled)
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
            changed = _family(key, value, parent[key], scaled) if key in ARM_FAMILIES else _plain(key, value)
            _check_ranges({**parent, key: changed})
        except (ValueError, LookupError) as error:
            raise type(error)(f"{where}: {error.args[0]}") from None
        if changed == parent[key]:
            raise ValueError(
                f"{where}: change.{key} changes nothing: {arm.parent!r} has {_shown(changed)} too"
            )
        return {**parent, key: changed}

    def scale(self, name: str) -> dict[str, Any]:
        """The settings of a scale: the built-in ones, overridden by the study's own."""
        if name not in SCALES and name not in self.scales:
            known = ", ".join([*SCALES, *(own for own in self.scales if own not in SCALES)])
            raise LookupError(f"no scale {name!r}; there is {known}")
        scaled = dict(SCALES.get(name, {}))
        for key, value in self.scales.get(name, {}).items():
            keeps_member = (
                isinstance(value, dict) and "name" not in value and isinstance(scaled.get(key), dict)
            )
            scaled[key] = {**scaled[key], **value} if keeps_member else value
        return scaled

    def _base(self, scaled: Mapping[str, Any]) -> dict[str, Any]:
        given = {**DEFAULTS, **{key: value for key, value in self.base.items() if key != "name"}}
        resolved: dict[str, Any] = {}
        for key, value in given.items():
            if key in ARM_FAMILIES:
                own = _family(key, value, family.resolve(key, DEFAULTS[key]), {})
                resolved[key] = _family(key, _member_settings(key, own["name"], scaled), own, {})
            else:
                own = _plain(key, value)
                resolved[key] = _plain(key, scaled[key]) if key in scaled else own
        _check_ranges(resolved)
        return resolved


def _check_scaled(where: str, key: str, table: Any) -> None:
    """A member that no arm of today uses is checked too: a misspelt one would be passed over in silence."""
    try:
        if isinstance(table, str) or "name" in table:
            _family(key, table, {}, {})
    except (ValueError, LookupError) as error:
        raise type(error)(f"{where}: {error.args[0]}") from None
    except TypeError:
        raise ValueError(f"{where}: {key} = {table!r}: must be a member's name or a table") from None


def _member_settings(key: str, member: str, scaled: Mapping[str, Any]) -> dict[str, Any]:
    """What a scale says of a family, if it speaks of this member."""
    table = scaled.get(key, {})
    if isinstance(table, str):
        table = {"name": table}
    if table.get("name", member) != member:
        return {}
    return {inner: value for inner, value in table.items() if inner != "name"}


def _family(key: str, value: Any, parent: Mapping[str, Any], scaled: Mapping[str, Any]) -> dict[str, Any]:
    table = {"name": value} if isinstance(value, str) else value
    if not isinstance(table, dict):
        raise ValueError(f"{key} = {value!r}: must be a member's name or a table")
    if "name" not in table:
        return family.resolve(key, {**parent, **table})
    family.resolve(key, table)
    return family.resolve(key, {**_member_settings(key, table["name"], scaled), **table})


def _plain(key: str, given: Any) -> Any:
    try:
        value: Any = msgspec.convert(given, _TYPES[key])
    except msgspec.ValidationError as error:
        raise ValueError(f"{key} = {given!r}: {error}") from None
    if key in ("dropout", "clip") and not math.isfinite(value):
        raise ValueError(f"{key} = {value!r}: must be a finite number")
    if key in _WORDS and value not in _WORDS[key]:
        raise ValueError(f"{key} = {value!r}: must be one of {', '.join(_WORDS[key])}")
    if key == "budget" and (set(value) != {"steps"} or value["steps"] < 1):
        raise ValueError(f"budget = {value!r}: must be {{ steps = N }} with N at least 1")
    return value


def _check_ranges(settings: Mapping[str, Any]) -> None:
    """A recipe knows what its numbers may be; what the corpus, the seed and the machine will give is stood in for."""
    given = {key: value for key, value in settings.items() if key != "budget"}
    given |= {"threads": settings["threads"] or 1, "precision": "float32", "compile": False}
    Recipe(corpus={}, corpus_fingerprint="", seed=0, steps=settings["budget"]["steps"], **given)


def _shown(value: Any) -> str:
    if not isinstance(value, dict):
        return repr(value)
    settings = ", ".join(f"{key} = {inner!r}" for key, inner in value.items() if key != "name")
    return f"{value['name']} ({settings})" if settings else value["name"]


def _check_keys(where: str, kind: type[msgspec.Struct], table: Any) -> None:
    allowed = [field.encode_name for field in msgspec.structs.fields(kind)]
    for key in table if isinstance(table, dict) else ():
        if key not in allowed:
            raise ValueError(f"{where}unknown key {key!r}; allowed: {', '.join(allowed)}")


def builtin() -> dict[str, Path]:
    """The studies that come with the package, by name."""
    folder = resources.files("onechange.studies")
    return {
        Path(f.name).stem: Path(str(f))
        for f in sorted(folder.iterdir(), key=lambda f: f.name)
        if f.name.endswith(".toml")
    }


def locate(word: str) -> Path:
    """A built-in study's name or a path; a `LookupError` lists what there is."""
    if word in builtin():
        return builtin()[word]
    if Path(word).is_file():
        return Path(word)
    raise LookupError(f"no study {word!r}: neither a file nor built in; built in: {', '.join(builtin())}")


def read(path: Path) -> Study:
    """The study in ``path``. Whether its arms can be resolved depends on the scale: `Study.settings` checks it.

    A `ValueError` names the file, the key, its value and what is allowed.
    """
    try:
        return parse(path.read_bytes())
    except (ValueError, LookupError) as error:
        raise ValueError(f"{path}: {error.args[0]}") from None


def parse(content: bytes) -> Study:
    """A study from the bytes of its file; errors as for `read`, without the file's name."""
    try:
        table = tomllib.loads(content.decode())
        _check_keys("", Study, table)
        _check_keys("sampling: ", Sampling, table.get("sampling"))
        for number, arm in enumerate(table["arm"] if isinstance(table.get("arm"), list) else [], start=1):
            _check_keys(f"arm {number}: ", Arm, arm)
        return msgspec.convert(table, Study)
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from None
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8: bad byte at offset {error.start}") from None
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"not TOML: {error}") from None
