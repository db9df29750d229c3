"""Where an exported model comes from: the run, and what its study says of it, as far as it lies around the run."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NotRequired, TypedDict

from onechange import checkpoint_reader, family, json_file, settings, shapes, untrusted
from onechange.checkpoint import Which
from onechange.checkpoint_reader import Trained
from onechange.recipe import Recipe
from onechange.sampling import Sampling
from onechange.study_folder import StudyFolder


class Verdict(TypedDict):
    """What is said of an arm beside its parent."""

    nats_per_character_difference: shapes.Real
    low: shapes.Real | None
    high: shapes.Real | None
    verdict: str
    seeds: shapes.Count


class Interval(TypedDict):
    """An arm's figure over its seeds."""

    mean: shapes.Real
    low: shapes.Real | None
    high: shapes.Real | None
    interval: str
    seeds: shapes.Count


_Arm = TypedDict(
    "_Arm",
    {
        "name": str,
        "from": str | None,
        "change": dict[str, Any] | None,
        "versus_parent": NotRequired[Verdict | None],
        "versus_parent_last": NotRequired[Verdict | None],
        "over_seeds": NotRequired[dict[str, Interval]],
    },
)


class _Results(TypedDict):
    study: str
    scale: str
    question: str
    arms: list[_Arm]


@dataclass(frozen=True)
class Told:
    """What a study says of one of its arms."""

    study: str
    scale: str
    question: str
    arm: str
    parent: str | None
    change: str | None
    """The one change, as a reader is told of it; ``None`` for the base."""
    over_seeds: Interval | None
    """The arm's nats per character at the kind of checkpoint that is exported."""
    versus_parent: Verdict | None


@dataclass(frozen=True, eq=False)
class Origin:
    """A run that is exported, at one of its checkpoints."""

    folder: Path
    trained: Trained
    checkpoint: str
    told: Told | None
    """``None`` where no study lies around the run."""
    sampling: Sampling
    """The study's, or the usual one."""
    nats_per_character: float | None
    """Of this very checkpoint on the validation text, where the run has been measured."""

    @property
    def separator(self) -> str:
        """The text that follows every story, and stands before every prompt."""
        return self.trained.recipe.corpus["separator"]

    @property
    def end(self) -> int | None:
        """The token that ends a story: the separator's, where it is one token."""
        ids = self.trained.tokenizer.encode(self.separator)
        return int(ids[0]) if len(ids) == 1 else None

    @property
    def settings(self) -> dict[str, dict[str, Any]]:
        """Each family's member with its settings, but for those that only say where something lies."""
        return {
            family: {key: value for key, value in member.items() if key not in ("path", "source")}
            for family, member in self.trained.recipe.members.items()
        }


def read(run: Path, checkpoint: str, which: Which | int, trust: bool) -> Origin:
    """The run in ``run`` at a checkpoint, ``checkpoint`` being the word for it; errors as `checkpoint_reader.read`."""
    _check_built_in(run)
    trained = checkpoint_reader.read(run, which, trust)
    told, sampling = _told(run, checkpoint)
    return Origin(run, trained, checkpoint, told, sampling, _measured(run, trained.step))


def _check_built_in(run: Path) -> None:
    """Before any code of members from outside would be executed, since they cannot be exported anyway."""
    if not (run / "recipe.toml").is_file():
        return
    untrusted.stay_inside(run)
    for kind, part in Recipe.read(run / "recipe.toml").parts.items():
        if family.is_from_outside(kind, part["name"]):
            raise ValueError(
                f'{kind} = "{part["name"]}" comes from outside onechange: only models of built-in members can be '
                "written for other programs"
            )


def _measured(run: Path, step: int) -> float | None:
    path = run / "measures.json"
    if not path.is_file():
        return None
    measures = json_file.read(path)
    shapes.fit(measures, shapes.Measures, path)
    at = {measures[which]["step"]: measures[which]["nats_per_character"] for which in ("last", "best")}
    return at.get(step)


def _told(run: Path, checkpoint: str) -> tuple[Told | None, Sampling]:
    path = run.resolve()
    if path.parents[1].name != "arms":
        return None, Sampling()
    folder = StudyFolder(path.parents[2])
    if not folder.exists:
        return None, Sampling()
    sampling = folder.study().sampled(folder.start().scale)
    results = folder.path / "results.json"
    if not results.is_file():
        return None, sampling
    found = json_file.read(results)
    shapes.fit(found, _Results, results)
    name = path.parent.name
    # It goes into a page that is executed: nothing but a name will do.
    arms = found["arms"] if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", name) else []
    arm = next((arm for arm in arms if arm["name"] == name), None)
    return (None if arm is None else _of_arm(found, arm, checkpoint)), sampling


def _of_arm(found: Mapping[str, Any], arm: Mapping[str, Any], checkpoint: str) -> Told:
    versus = {"best": "versus_parent", "last": "versus_parent_last"}.get(checkpoint, "")
    return Told(
        found["study"],
        found["scale"],
        found["question"],
        arm["name"],
        arm["from"],
        _said(arm["change"]),
        arm.get("over_seeds", {}).get(checkpoint),
        arm.get(versus),
    )


def _said(change: Mapping[str, Any] | None) -> str | None:
    if not change:
        return None
    ((key, value),) = change.items()
    return f"{key}: {settings.shown(value) if isinstance(value, dict) and 'name' in value else value}"
