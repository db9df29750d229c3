"""The tables of a study's results, each from what its `results.json` says."""

from typing import Any

from onechange.api.table import Table
from onechange.report import story_figures
from onechange.report.answer import change
from onechange.report.study import POINTS, Arm, Study

ARMS = (
    "arm", "from", "change", "nats_per_character", "low", "high", "spread", "seeds", "difference",
    "difference_low", "difference_high", "verdict", "nats_per_character_last", "parameters", "vocabulary",
    "characters_per_token", "characters_per_window", "steps", "times_text_seen", "operations",
)  # fmt: skip
DIFFERENCES = ("arm", "from", "change", "checkpoint", "difference", "low", "high", "verdict", "seeds",
               "interval", "spread", "p", "p_adjusted", "noise_floor")  # fmt: skip
RUNS = ("arm", "seed", "status", "steps", "seconds", "best_step", "nats_per_character", "bits_per_byte",
        "nats_per_token", "nats_per_character_last")  # fmt: skip
HISTORY = ("arm", "seed", "step", "tokens", "characters", "operations", "seconds", "batch_loss",
           "training_loss", "validation_loss", "training_nats_per_character",
           "validation_nats_per_character")  # fmt: skip
SAMPLES = ("arm", "seed", "checkpoint", "prompt", "text")
STORIES = ("arm", "checkpoint", "measure", "figure", "low", "high", "real")


def arms(study: Study) -> Table:
    """A row for every arm: its change, its figure at best over all seeds, the difference to its parent."""
    return Table(ARMS, [_arm(study, arm) for arm in study.arms])


def _arm(study: Study, arm: Arm) -> dict[str, Any]:
    record, best, last, versus = arm.record, arm.best, arm.last, arm.versus("best") or {}
    return {
        "arm": arm.name,
        "from": arm.parent,
        "change": change(study, arm) or None,
        "nats_per_character": best.nats_per_character if best else None,
        "low": best.low if best else None,
        "high": best.high if best else None,
        "spread": best.spread if best else None,
        "seeds": best.seeds if best else 0,
        "difference": versus.get("nats_per_character_difference"),
        "difference_low": versus.get("low"),
        "difference_high": versus.get("high"),
        "verdict": versus.get("verdict"),
        "nats_per_character_last": last.nats_per_character if last else None,
        **{key: record.get(key) for key in ARMS[ARMS.index("parameters") :]},
    }


def differences(study: Study) -> Table:
    """A row for every change at the best and at the last checkpoint: arm minus parent, negative is better.

    ``p_adjusted`` allows for the number of changes (Holm); both are known from three seeds on.
    """
    rows = []
    for arm in study.changed():
        for point in POINTS:
            if (found := arm.versus(point)) is not None:
                known = {key: found.get(key) for key in DIFFERENCES[DIFFERENCES.index("low") :]}
                named = {
                    "arm": arm.name,
                    "from": arm.parent,
                    "change": change(study, arm),
                    "checkpoint": point,
                }
                known["p_adjusted"] = (found.get("holm") or {}).get("p")
                rows.append({**named, "difference": found["nats_per_character_difference"], **known})
    return Table(DIFFERENCES, rows)


def runs(study: Study) -> Table:
    """A row for every run: where it stands, and the ruler's figures of it on validation text."""
    rows = []
    for arm in study.arms:
        for run in arm.runs:
            best, last = run.get("best") or {}, run.get("last") or {}
            figures = {key: best.get(key) for key in RUNS[RUNS.index("nats_per_character") : -1]}
            rows.append(
                {
                    "arm": arm.name,
                    **{key: run.get(key) for key in ("seed", "status", "steps", "seconds")},
                    "best_step": best.get("step"),
                    **figures,
                    "nats_per_character_last": last.get("nats_per_character"),
                }
            )
    return Table(RUNS, rows)


def history(study: Study) -> Table:
    """A row for every evaluation of every run; losses are in nats per token."""
    return Table(
        HISTORY,
        [
            {"arm": arm.name, "seed": run["seed"], **{key: row.get(key) for key in HISTORY[2:]}}
            for arm in study.arms
            for run in arm.runs
            for row in run.get("history") or []
        ],
    )


def samples(study: Study) -> Table:
    """The first story after every prompt, of every run's best and last checkpoint."""
    return Table(
        SAMPLES,
        [
            {"arm": arm.name, "seed": run["seed"], "checkpoint": point, **_of(SAMPLES[3:], told)}
            for arm in study.arms
            for run in arm.runs
            for point in POINTS
            for told in study.samples(arm, run["seed"], point)
        ],
    )


def _of(keys: tuple[str, ...], row: dict[str, Any]) -> dict[str, Any]:
    return {key: row[key] for key in keys}


def stories(study: Study) -> Table:
    """The measures of what each arm wrote, beside those of real stories; empty where nothing was measured."""
    found = story_figures.read(study)
    if found is None:
        return Table(STORIES, [])
    rows = []
    for one in found.arms:
        for point in POINTS:
            for measure in [name for _, names in found.groups() for name in names]:
                if (figure := one.figure(point, measure)) is None:
                    continue
                real = found.real(measure)
                rows.append(
                    {
                        "arm": one.arm.name,
                        "checkpoint": point,
                        "measure": measure,
                        **{key: figure[key] for key in ("figure", "low", "high")},
                        "real": real["figure"] if real else None,
                    }
                )
    return Table(STORIES, rows)
