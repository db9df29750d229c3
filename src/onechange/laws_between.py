"""Which of the eight laws hold between two groups of finished runs, and why; `docs/laws.md` says what each asks."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from onechange import family, kept_code
from onechange.changed import Change, Setting
from onechange.compare import SEEDS_FOR_A_VERDICT
from onechange.finished_run import FinishedRun

State = Literal["holds", "does not hold", "not known"]
RELATIVE = 1e-9
"""How far a sum over stories may lie from the sum that was written beside it: the order of adding is another."""

_ALIKE: dict[str, Callable[[Mapping[str, Any]], Any]] = {
    "processor": lambda made: made["machine"].get("processor"),
    "device": lambda made: made.get("device"),
    "torch": lambda made: made["versions"].get("torch"),
    "threads": lambda made: made.get("threads"),
    "processes": lambda made: made.get("processes"),
    "compile": lambda made: made.get("compile"),
}
"""What must be the same for two runs of one recipe to come out bit for bit the same."""


@dataclass(frozen=True)
class Law:
    """One of the eight, numbered as in `docs/laws.md`."""

    number: int
    name: str
    state: State
    reason: str


def laws(
    first: Sequence[FinishedRun],
    second: Sequence[FinishedRun],
    seeds: Sequence[int],
    changes: Sequence[Change],
    apart: Sequence[Setting],
) -> list[Law]:
    """The eight laws between the runs that are compared; ``seeds`` are those that both groups have."""
    runs = [*first, *second]
    found = (
        ("one change", _one_change(runs, changes, apart)),
        ("same text", _same_text(first[0], second[0], seeds)),
        ("same start", _same_start(first[0], second[0], seeds, runs)),
        ("same ruler", _same_ruler(runs)),
        ("no peeking", _no_peeking(runs)),
        ("no luck", _no_luck(seeds)),
        ("nothing lost", _nothing_lost(runs)),
        ("nothing hidden", _nothing_hidden(runs)),
    )
    return [Law(number, name, *told) for number, (name, told) in enumerate(found, 1)]


Told = tuple[State, str]


def _one_change(runs: Sequence[FinishedRun], changes: Sequence[Change], apart: Sequence[Setting]) -> Told:
    beside = f" (computed otherwise: {', '.join(map(str, apart))})" if apart else ""
    if len(changes) > 1:
        named = ", ".join(setting.setting for change in changes for setting in change.settings)
        return "does not hold", f"{len(changes)} things differ: {named}{beside}"
    unversioned = [run for run in runs if run.components is None]
    if unversioned:
        return (
            "not known",
            f"{unversioned[0].folder} does not say which versions of its members it was made with",
        )
    if not changes:
        return "does not hold", f"nothing differs that would be a change{beside}"
    return "holds", f"{changes[0]}{beside}"


def _same_text(first: FinishedRun, second: FinishedRun, seeds: Sequence[int]) -> Told:
    if not seeds:
        return "does not hold", "no seed in common, and each seed reads the text in an order of its own"
    a, b = first.recipe, second.recipe
    notes = []
    if a.batch != b.batch:
        notes.append(
            f"a batch has {a.batch} rows and {b.batch}: the first {min(a.batch, b.batch)} of every step agree"
        )
    if a.steps != b.steps:
        notes.append(f"{a.steps:,} steps and {b.steps:,}: the first {min(a.steps, b.steps):,} agree")
    if a.window != b.window or a.tokenizer != b.tokenizer:
        notes.append("how far a row reads from there differs")
    return "holds", "; ".join(["rows start at the same places of the same text", *notes])


def _same_start(
    first: FinishedRun, second: FinishedRun, seeds: Sequence[int], runs: Sequence[FinishedRun]
) -> Told:
    if not seeds:
        return "does not hold", "no seed in common, so all first weights differ"
    a, b = first.recipe, second.recipe
    if a.width != b.width:
        return "does not hold", f"width is {a.width} and {b.width}: hardly a part has the same shape in both"
    if a.layers != b.layers:
        return "does not hold", (
            f"layers are {a.layers} and {b.layers}: what a block writes is scaled by their number at the start"
        )
    drawn = _recorded(runs, lambda made: made["versions"].get("numpy"))
    if len(drawn) > 1:
        return "not known", f"first weights were drawn with numpy {_listed(drawn)}"
    return "holds", "parts of the same name and shape have the same first weights"


def _same_ruler(runs: Sequence[FinishedRun]) -> Told:
    for run in runs:
        nats, characters = float(run.scores.nats.sum()), int(run.scores.characters.sum())
        figures = run.figures
        if characters != figures["characters"] or not (
            np.isclose(nats, figures["nats"], rtol=RELATIVE, atol=0)
            and np.isclose(nats / characters, figures["nats_per_character"], rtol=RELATIVE, atol=0)
        ):
            return "does not hold", f"the figures of {run.folder} do not add up to those of its stories"
    stories = runs[0].scores
    return "holds", (
        f"the same {len(stories.nats):,} {runs[0].text} stories, {stories.characters.sum():,} characters, scored whole"
    )


def _no_peeking(runs: Sequence[FinishedRun]) -> Told:
    for run in runs:
        table = run.recipe.tokenizer
        if "learn_from" not in table and not family.is_here("tokenizer", table["name"]):
            return "not known", f"the tokenizer of {run.folder}, {table['name']}, is code that is not here"
        learned_from = table.get("learn_from", getattr(_tokenizer(table["name"]), "learn_from", None))
        if learned_from != "training":
            return "does not hold", f"the tokenizer of {run.folder} learned from validation text too"
    return "holds", "tokenizers learned from training text only"


def _tokenizer(name: str) -> type:
    return family.member("tokenizer", name)


def _no_luck(seeds: Sequence[int]) -> Told:
    if len(seeds) >= SEEDS_FOR_A_VERDICT:
        return "holds", f"{len(seeds)} seeds in both: {_listed(seeds)}"
    if not seeds:
        return "does not hold", f"no seed in common, a verdict takes {SEEDS_FOR_A_VERDICT}"
    count = f"{len(seeds)} seed{'s' * (len(seeds) > 1)} in both"
    return "does not hold", f"{count} ({_listed(seeds)}), a verdict takes {SEEDS_FOR_A_VERDICT}"


def _nothing_lost(runs: Sequence[FinishedRun]) -> Told:
    for run in runs:
        if run.left_out:
            steps = f"{run.left_out:,} step{'s' * (run.left_out > 1)}"
            return "does not hold", f"{run.folder} left out the update of {steps}"
        if not run.keeps_checkpoints:
            return "does not hold", f"{run.folder} no longer holds its best and last checkpoint"
    if any(run.environment is None for run in runs):
        return "not known", "where it was trained is not recorded of every run"
    found = {name: _recorded(runs, of) for name, of in _ALIKE.items()}
    differing = [f"{name} {_listed(values)}" for name, values in found.items() if len(values) > 1]
    if differing:
        return "does not hold", f"alike up to rounding only: {'; '.join(differing)}"
    return "holds", "all finished, on the same kind of processor with the same threads; checkpoints are kept"


def _nothing_hidden(runs: Sequence[FinishedRun]) -> Told:
    for run in runs:
        if run.environment is None:
            return "does not hold", f"{run.folder} has no environment.json"
        if gone := kept_code.missing(run.recipe, run.folder):
            return "does not hold", f"{gone[0]}, code that the run was made with, is not there"
    versions = {
        name: _recorded(runs, lambda made, name=name: made["versions"].get(name))
        for run in runs
        for name in (run.environment or {})["versions"]
    }
    differing = [f"{name} {_listed(values)}" for name, values in versions.items() if len(values) > 1]
    recorded = "recipe, text, versions and machine of every run are recorded"
    return "holds", recorded + (f"; versions differ: {'; '.join(differing)}" if differing else "")


def _recorded(runs: Sequence[FinishedRun], of: Callable[[Mapping[str, Any]], Any]) -> list[str | None]:
    """The different values that the runs' environments have, as words in the runs' order; ``None``: not recorded."""
    found = [of(run.environment) if run.environment else None for run in runs]
    return list(dict.fromkeys(None if value is None else str(value) for value in found))


def _listed(values: Sequence[Any]) -> str:
    words = ["not recorded" if value is None else str(value) for value in values]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
