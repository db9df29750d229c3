"""Running a study: every arm with every seed, one after the other, each finished before the next begins."""

import json
from collections.abc import Callable
from typing import Any

from onechange import atomic, prompts, record, report, run_lock
from onechange.checkpoint import Checkpoints
from onechange.finiteness import NotFinite, OnNonfinite
from onechange.plan import Plan
from onechange.processes import ALONE, Group, Lost
from onechange.run import execute, finished
from onechange.settings import ARM_FAMILIES
from onechange.study_folder import StudyFolder
from onechange.tokenizer_show import describe
from onechange.training import Moment

Watch = Callable[[str, int, Moment], None]
"""Told of arm, seed and moment after every step."""
Say = Callable[[str], None]
"""Told once of what a person should know."""


def run(
    plan: Plan,
    folder: StudyFolder,
    watch: Watch,
    say: Say,
    group: Group = ALONE,
    on_nonfinite: OnNonfinite = "stop",
) -> dict[str, Any]:
    """Run what of ``plan`` is not finished yet and return the results; ``on_nonfinite`` as in `onechange.training`.

    The folder must be begun and locked. A run whose loss stops being finite is marked as failed and the study goes
    on; a finished run is not touched.
    """
    corpus = plan.corpus
    _same_corpus(folder, corpus.fingerprint)
    for arm in plan.arms:  # all there from the start: a resume without --seeds knows what was asked for
        for seed in plan.seeds:
            folder.run(arm, seed).mkdir(parents=True, exist_ok=True)
    kept, notes = prompts.usable(plan.study.prompts, corpus)
    facts = {
        **corpus.facts,
        "entropy_floor": corpus.entropy_floor,
        "prompts": kept,
        "demonstration": prompts.demonstration(plan.study.demonstration, corpus),
    }
    atomic.write(folder.path / "corpus.json", _pretty(facts))
    for note in [*corpus.facts["notes"], *notes]:
        say(note)
    for arm in plan.arms:
        described = describe(plan.dataset(arm).tokenizer, facts["demonstration"])
        tokens = [list(pair) for pair in zip(described["tokens"], described["ids"], strict=True)]
        recipe = plan.recipe(arm, 0)
        settings = {key: _short(getattr(recipe, key)) for key in _SHOWN}
        content = {**plan.facts(arm), "settings": settings, "demonstration": tokens}
        atomic.write(folder.path / "arms" / arm / "arm.json", _pretty(content))
    for seed in plan.seeds:
        for arm in plan.arms:
            _one(plan, folder, arm, seed, kept, watch, say, group, on_nonfinite)
            record.refresh(folder)
    results = record.write(folder)
    report.write(folder.path)
    return results


_SHOWN = (*ARM_FAMILIES, "layers", "heads", "width", "window", "batch", "dropout", "clip", "evaluate_every",
          "precision", "compile", "threads")  # fmt: skip


def _same_corpus(folder: StudyFolder, fingerprint: str) -> None:
    """A `ValueError` if the folder's study was started on other text than is there now."""
    if not (folder.path / "corpus.json").is_file():
        return
    held = folder.corpus()["fingerprint"]
    if held != fingerprint:
        raise ValueError(
            f"{folder.path} was started on other text (fingerprint {held[:12]}, now {fingerprint[:12]}): "
            "put the text back, or choose another --out"
        )


def _one(
    plan: Plan,
    folder: StudyFolder,
    arm: str,
    seed: int,
    kept: list[str],
    watch: Watch,
    say: Say,
    group: Group,
    on_nonfinite: OnNonfinite,
) -> None:
    path, recipe = folder.run(arm, seed), plan.recipe(arm, seed)
    if finished(path, recipe):
        return
    try:
        with run_lock.locked(path):
            execute(
                recipe,
                plan.dataset(arm),
                plan.study.sampling,
                kept,
                path,
                lambda moment: watch(arm, seed, moment),
                lambda note: say(f"{arm}, seed {seed}: {note}"),
                group,
                on_nonfinite,
            )
    except Lost as error:
        step = Checkpoints(path).step("last") or 0
        raise Lost(
            f"{arm}, seed {seed}: {error}; the same command with --resume goes on from step {step}"
        ) from error
    except NotFinite as error:
        atomic.write(path / "failure.json", json.dumps({"error": str(error)}) + "\n")
        say(f"{arm}, seed {seed}: stopped, {error}; its last good checkpoint is kept")


def _short(value: Any) -> Any:
    """A member without settings is its name."""
    return value["name"] if isinstance(value, dict) and set(value) == {"name"} else value


def _pretty(content: Any) -> str:
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"
