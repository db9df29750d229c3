"""`results.json`: what every table and chart is made of, collected from a study's folder and from nothing else."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, get_args

import msgspec
import numpy as np

from onechange import atomic, budget, equal, family, json_file, judging, shapes
from onechange.checkpoint import Which
from onechange.choosing import choosing
from onechange.compare import Scores, interval_over_stories
from onechange.costs import costs, speed
from onechange.history import History
from onechange.overfitting import overfitting
from onechange.stories import collected
from onechange.study import Study
from onechange.study_folder import StudyFolder

FORMAT = 1
NOT_OF_THE_TEXT = ("prompts", "demonstration", "entropy_floor", "entropy_floor_test", "excerpt", "stories")
"""What `corpus.json` holds beside facts about the corpus."""


def write(folder: StudyFolder) -> dict[str, Any]:
    """Collect the study in ``folder`` into its `results.json` and return it."""
    results = collect(folder)
    atomic.write(folder.path / "results.json", json.dumps(results, ensure_ascii=False, indent=1) + "\n")
    return results


def refresh(folder: StudyFolder) -> None:
    """`write` between two runs: what is damaged in a run that is still to be gone on with is no reason to stop."""
    with suppress(ValueError):
        write(folder)


def collect(folder: StudyFolder) -> dict[str, Any]:
    """The document; arms and runs that are missing or unfinished are in it, marked as such."""
    start, study, corpus = folder.start(), folder.study(), folder.corpus()
    every = {name: _facts(folder, name) for name in study.run_names(start.scale)}
    records = {name: _arm(folder, fact) for name, fact in every.items() if fact}
    measured = {name: _finished(folder, record) for name, record in records.items()}
    kept = {name: _kept(folder, name, runs) for name, runs in measured.items()}
    stories = {name: _stories(folder, name, runs) for name, runs in measured.items()}
    names = study.names(start.scale)
    arms = [records[name] for name in names if name in records]
    environment = _first_environment(folder, arms)
    timed = any(budget.kind(arm["budget"]) == "seconds" for arm in arms if "budget" in arm)
    judged = judging.changes(arms, kept, timed=timed)
    for arm in arms:
        arm["over_seeds"] = judging.over_seeds(kept[arm["name"]])
        arm |= judged[arm["name"]]
        arm["stories"] = collected.of_arm(
            stories[arm["name"]],
            stories.get(arm["from"] or "", []),
            unjudged=judging.SECONDS if timed else None,
        )
        arm["at_equal"] = _at_equal(arm, records, _machine(environment))
        arm["costs"] = costs(arm, records.get(arm["from"] or ""))
    seeds = {tuple(run["seed"] for run in record["runs"]) for record in records.values()}
    finished = (
        len(records) == len(every)
        and len(seeds) == 1
        and all(run["status"] == "finished" for record in records.values() for run in record["runs"])
    )
    base = arms[0] if arms else {}
    return {
        "format": FORMAT,
        "study": start.study,
        "scale": start.scale,
        "question": study.question,
        "status": "finished" if finished else "unfinished",
        "command": start.command,
        "prompts": corpus["prompts"],
        "sampling": msgspec.structs.asdict(study.sampled(start.scale)),
        "corpus": {k: v for k, v in corpus.items() if k not in NOT_OF_THE_TEXT},
        "entropy_floor": corpus["entropy_floor"],
        "entropy_floor_test": corpus.get("entropy_floor_test"),
        "excerpt": corpus.get("excerpt"),
        "stories": corpus.get("stories"),
        "stories_tracking": collected.tracked({arm["name"]: stories[arm["name"]] for arm in arms}),
        "demonstration": {
            "text": corpus["demonstration"],
            "arms": {name: fact["demonstration"] for name in names if (fact := every[name])},
        },
        "settings": base.get("settings", {}),
        "machine": environment.get("machine", {}),
        "versions": environment.get("versions", {}),
        "judged_changes": sum((arm["versus_parent"] or {}).get("p") is not None for arm in arms),
        "tuning": _tuning(study, start.scale, arms, kept, timed=timed),
        "arms": arms,
    }


def _tuning(
    study: Study,
    scale: str,
    arms: Sequence[Mapping[str, Any]],
    kept: Mapping[str, judging.Kept],
    *,
    timed: bool,
) -> dict[str, Any] | None:
    if study.tuning is None:
        return None
    candidates = {arm["name"]: study.candidates(arm["name"], scale) for arm in arms}
    runs = {name: kept.get(name, {}) for values in candidates.values() for name in values.values()}
    parents = {arm["name"]: arm["from"] for arm in arms}
    return judging.tuned(study.tuning, candidates, parents, runs, timed=timed)


def _at_equal(
    arm: Mapping[str, Any], records: Mapping[str, Mapping[str, Any]], machine: str | None
) -> dict[str, Any] | None:
    parent = records.get(arm["from"] or "")
    if parent is None:
        return None
    found = equal.at_equal(_histories(arm), _histories(parent), machine)
    if found is None:
        return None
    return {measure: reading and asdict(reading) for measure, reading in found.items()}


def _histories(arm: Mapping[str, Any]) -> equal.Runs:
    rows = {run["seed"]: run["history"] for run in arm["runs"] if run["status"] == "finished"}
    schedule = arm["settings"].get("schedule", "cosine")
    table = {"name": schedule} if isinstance(schedule, str) else schedule
    resolved = family.resolve("schedule", table)
    built = family.build("schedule", resolved) if family.is_here("schedule", resolved["name"]) else None
    return equal.Runs(arm["name"], rows, built, arm["steps"])


def _machine(environment: Mapping[str, Any]) -> str | None:
    found = environment.get("machine", {}).get("processor")
    return found if isinstance(found, str) else None


def _finished(folder: StudyFolder, arm: Mapping[str, Any]) -> dict[int, dict[str, Any]]:
    """The measures of the arm's finished runs, by seed."""
    finished = [run["seed"] for run in arm["runs"] if run["status"] == "finished"]
    found = {seed: _measures(folder.run(arm["name"], seed)) for seed in finished}
    return {seed: measures for seed, measures in found.items() if measures}


def _kept(folder: StudyFolder, name: str, runs: Mapping[int, Mapping[str, Any]]) -> judging.Kept:
    """The scores of an arm's finished runs."""
    return {
        seed: {
            (which, text): _scores(figures, folder.run(name, seed))
            for which in get_args(Which)
            for text in get_args(judging.Text)
            if (figures := measures[which] if text == "validation" else measures[which].get("test"))
        }
        for seed, measures in runs.items()
    }


def _stories(folder: StudyFolder, name: str, runs: Mapping[int, Mapping[str, Any]]) -> list[collected.Run]:
    """What an arm's finished runs wrote; those without prompts, or of an earlier version, measured nothing."""
    return [
        collected.Run(
            seed,
            step={which: measures[which]["step"] for which in get_args(Which)},
            nats_per_character={which: measures[which]["nats_per_character"] for which in get_args(Which)},
            written={which: measures[which]["written"] for which in get_args(Which)},
        )
        for seed, measures in runs.items()
        if all("written" in measures[which] for which in get_args(Which))
    ]


def _facts(folder: StudyFolder, name: str) -> dict[str, Any] | None:
    path = folder.path / "arms" / name / "arm.json"
    found = _json(path, shapes.Arm)
    if found and found["name"] != name:
        raise ValueError(f"{path} is damaged: it is of an arm called {found['name']!r}")
    return found


def _arm(folder: StudyFolder, facts: Mapping[str, Any]) -> dict[str, Any]:
    known = {key: value for key, value in facts.items() if key != "demonstration"}
    name, steps = facts["name"], facts["steps"]
    return {**known, "runs": [_run(folder.run(name, seed), seed, steps) for seed in folder.seeds(name)]}


def _run(path: Path, seed: int, steps: int) -> dict[str, Any]:
    """``steps``: how many were planned."""
    seconds = {row["step"]: row for row in _rows(path / "timing.jsonl", shapes.Times)}
    history = [
        {**row, "seconds": seconds.get(row["step"], {}).get("seconds")}
        for row in _rows(path / "metrics.jsonl", shapes.Row)
    ]
    measures, failure = _measures(path), _json(path / "failure.json", shapes.Failure)
    last = max(seconds, default=0)
    status = _status(path, failure, measures)
    return {
        "seed": seed,
        "status": status,
        "error": failure["error"] if failure else None,
        "steps": last,
        "seconds": seconds[last]["seconds"] if last else 0.0,
        "seconds_per_step": seconds[last]["seconds"] / last if last else None,
        "tokens_per_second": speed(history, "tokens"),
        "characters_per_second": speed(history, "characters"),
        "steps_left_out": seconds[last].get("left_out", 0) if last else 0,
        "peak_memory_bytes": max(
            (held for row in seconds.values() if (held := row["peak_memory_bytes"]) is not None), default=None
        ),
        "best": _figures(measures["best"], path) if measures else None,
        "last": _figures(measures["last"], path) if measures else None,
        "stopped_early": status == "finished" and last < steps,
        "overfitting": asdict(found) if (found := overfitting(history)) else None,
        "choosing": _choosing(measures) if measures else None,
        "history": history,
    }


def _status(path: Path, failure: Any, measures: Any) -> str:
    if failure:
        return "failed"
    if measures:
        return "finished"
    return "running" if (path / "recipe.toml").is_file() else "missing"


def _measures(run: Path) -> dict[str, Any] | None:
    path = run / "measures.json"
    found = _json(path, shapes.Measures)
    if found is None:
        return None
    with _named(path):
        for which in get_args(Which):
            if "written" in found[which]:
                collected.check(found[which]["written"])
    return found


def _figures(measured: Mapping[str, Any], run: Path) -> dict[str, Any]:
    scores = _scores(measured, run)
    _, low, high = interval_over_stories(scores.nats, scores.characters)
    figures = {key: value for key, value in measured.items() if key != "stories"}
    if "test" in measured:
        figures["test"] = _figures(measured["test"], run)
    if "written" in measured:
        figures["written"] = collected.figures(measured["written"])
    if "readings" in measured:  # sums; the excerpt's characters stay in measures.json
        figures["readings"] = {k: v for k, v in measured["readings"].items() if k != "excerpt"}
    return {**figures, "low": low, "high": high}


def _choosing(measures: Mapping[str, Any]) -> dict[str, float] | None:
    best, last = measures["best"], measures["last"]
    if "test" not in best or "test" not in last:
        return None
    places = (best, last, best["test"], last["test"])
    return asdict(choosing(*(place["nats_per_character"] for place in places)))


def _scores(measured: Mapping[str, Any], run: Path) -> Scores:
    stories = measured["stories"]
    with _named(run / "measures.json"):
        return Scores(np.array(stories["nats"], dtype=np.float64), np.array(stories["characters"]))


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """What is wrong with the content of a file is said with its name."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{path} is damaged: {error}") from None


def _first_environment(folder: StudyFolder, arms: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    for arm in arms:
        for run in arm["runs"]:
            found = _json(folder.run(arm["name"], run["seed"]) / "environment.json", shapes.Environment)
            if found:
                return found
    return {}


def _json(path: Path, kind: Any) -> dict[str, Any] | None:
    """The object in a file, if there is one, once it was found to be of the ``kind``."""
    try:
        found = json_file.read(path)
    except FileNotFoundError:  # never there, or gone this moment: a run beside this one begins anew
        return None
    shapes.fit(found, kind, path)
    return found


def _rows(path: Path, kind: Any) -> list[dict[str, Any]]:
    rows = History(path).rows()
    shapes.fit(rows, list[kind], path)
    return rows
