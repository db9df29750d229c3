"""`results.json`: what every table and chart is made of, collected from a study's folder and from nothing else."""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from onechange import atomic, json_file, shapes
from onechange.compare import Scores, difference, interval_over_stories
from onechange.history import History
from onechange.study_folder import StudyFolder

FORMAT = 1


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
    facts = {name: _facts(folder, name) for name in study.arm_names}
    arms = [_arm(folder, fact) for fact in facts.values() if fact]
    by_name = {arm["name"]: arm for arm in arms}
    for arm in arms:
        parent = by_name.get(arm["from"])
        for which, key in (("best", "versus_parent"), ("last", "versus_parent_last")):
            arm[key] = _versus(folder, arm, parent, which) if parent else None
    seeds = {tuple(run["seed"] for run in arm["runs"]) for arm in arms}
    finished = (
        len(arms) == len(study.arm_names)
        and len(seeds) == 1
        and all(run["status"] == "finished" for arm in arms for run in arm["runs"])
    )
    base = arms[0] if arms else {}
    environment = _first_environment(folder, arms)
    return {
        "format": FORMAT,
        "study": start.study,
        "scale": start.scale,
        "question": study.question,
        "status": "finished" if finished else "unfinished",
        "command": start.command,
        "prompts": corpus["prompts"],
        "sampling": msgspec.structs.asdict(study.sampling),
        "corpus": {k: v for k, v in corpus.items() if k not in ("prompts", "demonstration", "entropy_floor")},
        "entropy_floor": corpus["entropy_floor"],
        "demonstration": {
            "text": corpus["demonstration"],
            "arms": {name: fact["demonstration"] for name, fact in facts.items() if fact},
        },
        "settings": base.get("settings", {}),
        "machine": environment.get("machine", {}),
        "versions": environment.get("versions", {}),
        "arms": arms,
    }


def _facts(folder: StudyFolder, name: str) -> dict[str, Any] | None:
    path = folder.path / "arms" / name / "arm.json"
    found = _json(path, shapes.Arm)
    if found and found["name"] != name:
        raise ValueError(f"{path} is damaged: it is of an arm called {found['name']!r}")
    return found


def _arm(folder: StudyFolder, facts: Mapping[str, Any]) -> dict[str, Any]:
    known = {key: value for key, value in facts.items() if key != "demonstration"}
    return {**known, "runs": [_run(folder, facts["name"], seed) for seed in folder.seeds(facts["name"])]}


def _run(folder: StudyFolder, arm: str, seed: int) -> dict[str, Any]:
    path = folder.run(arm, seed)
    seconds = {row["step"]: row for row in _rows(path / "timing.jsonl", shapes.Times)}
    history = [
        {**row, "seconds": seconds.get(row["step"], {}).get("seconds")}
        for row in _rows(path / "metrics.jsonl", shapes.Row)
    ]
    measures, failure = _measures(path), _json(path / "failure.json", shapes.Failure)
    last = max(seconds, default=0)
    return {
        "seed": seed,
        "status": _status(path, failure, measures),
        "error": failure["error"] if failure else None,
        "steps": last,
        "seconds": seconds[last]["seconds"] if last else 0.0,
        "seconds_per_step": seconds[last]["seconds"] / last if last else None,
        "steps_left_out": seconds[last].get("left_out", 0) if last else 0,
        "peak_memory_bytes": max((row["peak_memory_bytes"] for row in seconds.values()), default=None),
        "best": _figures(measures["best"], path) if measures else None,
        "last": _figures(measures["last"], path) if measures else None,
        "history": history,
    }


def _status(path: Path, failure: Any, measures: Any) -> str:
    if failure:
        return "failed"
    if measures:
        return "finished"
    return "running" if (path / "recipe.toml").is_file() else "missing"


def _measures(run: Path) -> dict[str, Any] | None:
    return _json(run / "measures.json", shapes.Measures)


def _figures(measured: Mapping[str, Any], run: Path) -> dict[str, Any]:
    scores = _scores(measured, run)
    _, low, high = interval_over_stories(scores.nats, scores.characters)
    figures = {
        **{key: value for key, value in measured.items() if key != "stories"},
        "low": low,
        "high": high,
    }
    if "readings" in figures:  # sums; the excerpt's characters stay in measures.json
        figures["readings"] = {k: v for k, v in figures["readings"].items() if k != "excerpt"}
    return figures


def _versus(
    folder: StudyFolder, arm: Mapping[str, Any], parent: Mapping[str, Any], which: str
) -> dict[str, Any] | None:
    """Arm minus parent over the seeds that both have finished."""

    def finished(runs: Sequence[Mapping[str, Any]]) -> set[int]:
        return {run["seed"] for run in runs if run["status"] == "finished"}

    seeds = sorted(finished(arm["runs"]) & finished(parent["runs"]))
    if not seeds:
        return None
    ours, theirs = (
        [_scores((_measures(folder.run(name, seed)) or {})[which], folder.run(name, seed)) for seed in seeds]
        for name in (arm["name"], parent["name"])
    )
    return asdict(difference(ours, theirs))


def _scores(measured: Mapping[str, Any], run: Path) -> Scores:
    stories = measured["stories"]
    try:
        return Scores(np.array(stories["nats"], dtype=np.float64), np.array(stories["characters"]))
    except ValueError as error:
        raise ValueError(f"{run / 'measures.json'} is damaged: {error}") from None


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
