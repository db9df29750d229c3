"""The settings of an arm: what there is, its defaults, and how one value is resolved and checked."""

from collections.abc import Mapping
from typing import Any, Literal

from onechange import budget, family, scaled
from onechange.recipe import Recipe

ARM_FAMILIES = ("tokenizer", *family.MODEL_FAMILIES, *family.TRAINING_FAMILIES)
CHANGEABLE_SIZES = ("window", "width", "layers", "heads", "batch", "dropout")

DEFAULTS: dict[str, Any] = {
    "tokenizer": "character",
    "position": "learned",
    "norm": "layer",
    "placement": "pre",
    "mlp": "gelu",
    "attention": "heads",
    "embedding": "tied",
    "initialization": "gpt2",
    "optimizer": "adamw",
    "schedule": "cosine",
    "layers": 4,
    "heads": 4,
    "width": 128,
    "window": 128,
    "dropout": 0.0,
    "batch": 16,
    "micro_batch": 0,
    "activations": "keep",
    "budget": {"steps": 1000},
    "evaluate_every": 100,
    "patience": 0,
    "clip": 1.0,
    "precision": "auto",
    "compile": "auto",
    "threads": 0,
    "device": "auto",
}
_TYPES: dict[str, Any] = {
    **dict.fromkeys(
        ("layers", "heads", "width", "batch", "micro_batch", "evaluate_every", "patience", "threads"), int
    ),
    "dropout": float,
    "clip": float,
    "window": Any,
    "budget": Any,
    "precision": Literal["auto", "bf16", "float32"],
    "compile": Literal["auto", "on", "off"],
    "activations": Literal["keep", "recompute"],
    "device": Literal["auto", "cpu", "cuda", "mps"],
}


def check_scaled(where: str, key: str, said: Any) -> None:
    """A member that no arm of today uses is checked too: a misspelt one would be passed over in silence."""
    try:
        tables = scaled.tables(said)
    except ValueError as error:
        raise ValueError(f"{where}: {key} = {said!r}: {error}") from None
    try:
        for table in tables:
            if "name" in table:
                member(key, table, {}, {})
    except (ValueError, LookupError) as error:
        raise type(error)(f"{where}: {error.args[0]}") from None


def member(key: str, value: Any, parent: Mapping[str, Any], scale: Mapping[str, Any]) -> dict[str, Any]:
    """A family's value as a study writes it, resolved against the ``parent``'s member and what the scale says."""
    table = {"name": value} if isinstance(value, str) else value
    if not isinstance(table, dict):
        raise ValueError(f"{key} = {value!r}: must be a member's name or a table")
    if "name" not in table:
        return family.resolve(key, {**parent, **table})
    family.resolve(key, table)
    return family.resolve(key, {**scaled.of_member(scale.get(key, {}), table["name"]), **table})


def plain(key: str, given: Any) -> Any:
    """A size or another single setting, checked; a `ValueError` names it, its value and what is allowed."""
    if key == "budget":
        return budget.checked(given)
    if key == "window":
        return _window(given)
    return family.checked(key, given, _TYPES[key])


def _window(given: Any) -> int | dict[str, int]:
    """Tokens, or characters of text for which every arm takes as many of its tokens as hold so much on average."""
    if type(given) is int:
        return given
    if isinstance(given, dict) and [*given] == ["characters"]:
        characters = given["characters"]
        if type(characters) is int and characters >= 1:
            return given
    raise ValueError(
        f"window = {given!r}: must be a number of tokens, or {{ characters = N }} with N at least 1"
    )


def check_ranges(settings: Mapping[str, Any]) -> None:
    """A recipe knows what its numbers may be; what the corpus, the seed and the machine will give is stood in for."""
    given = {key: value for key, value in settings.items() if key != "budget"}
    given |= {"threads": settings["threads"] or 1, "precision": "float32", "compile": False}
    given |= {"device": "cpu", "window": settings["window"] if type(settings["window"]) is int else 1}
    Recipe(corpus={}, corpus_fingerprint="", seed=0, steps=1, **given)


def shown(value: Any) -> str:
    """A resolved value for a message."""
    if not isinstance(value, dict):
        return repr(value)
    settings = ", ".join(f"{key} = {inner!r}" for key, inner in value.items() if key != "name")
    return f"{value['name']} ({settings})" if settings else value["name"]
