"""Where every run of a study stands, read from its folder while it runs or after."""

from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from onechange import json_file, run_lock
from onechange.history import History
from onechange.study_folder import StudyFolder

State = Literal["finished", "running", "stopped", "failed", "not started"]
_HEARD = ("progress.json", "timing.jsonl", "metrics.jsonl", "measures.json", "failure.json", "recipe.toml")


def collect(folder: StudyFolder) -> dict[str, Any]:
    """Every arm with every seed that the study was asked for.

    Whether a run is running is told by the operating system's lock on its folder, not by a file that says so. A run
    that cannot be read in part is told as far as it can. Raises a `LookupError` where no study lies.
    """
    start, study = folder.start(), folder.study()
    runs = []
    for arm in study.run_names(start.scale):
        counted = study.settings(arm, start.scale)["budget"]
        facts = _read(folder.path / "arms" / arm / "arm.json", "steps")
        steps = int(_number(facts.get("steps"))) or counted.get("steps", 0)
        for seed in folder.all_seeds():
            runs.append({"arm": arm, "seed": seed, **_run(folder.run(arm, seed), steps)})
    return {"study": start.study, "scale": start.scale, "runs": runs}


def _run(path: Path, steps: int) -> dict[str, Any]:
    times = History(path / "timing.jsonl").readable()
    history = History(path / "metrics.jsonl").readable()
    last: dict[str, Any] = times[-1] if times else {}
    state, error = _state(path)
    beat = _read(path / "progress.json", "step", "seconds", "seconds_left") if state == "running" else {}
    return {
        "state": state,
        "step": max(_number(beat.get("step")), _number(last.get("step"))),
        "steps": steps,
        "validation_nats_per_character": history[-1].get("validation_nats_per_character")
        if history
        else None,
        "seconds": float(max(_number(beat.get("seconds")), _number(last.get("seconds")))),
        "seconds_left": beat.get("seconds_left"),
        "heard": _heard(path),
        "error": error,
    }


def _state(path: Path) -> tuple[State, str | None]:
    if run_lock.is_locked(path):
        return "running", None
    if (path / "failure.json").is_file():
        return "failed", str(_read(path / "failure.json", "error").get("error", "no reason can be read"))
    if (path / "measures.json").is_file():
        return "finished", None
    return ("stopped" if (path / "recipe.toml").is_file() else "not started"), None


def _heard(path: Path) -> str | None:
    """When the run last wrote something, in UTC."""
    times = []
    for name in _HEARD:
        with suppress(OSError):
            times.append((path / name).stat().st_mtime)
    return datetime.fromtimestamp(max(times), UTC).isoformat(timespec="seconds") if times else None


def _read(path: Path, *needed: str) -> dict[str, Any]:
    """The object in a file; empty where it is missing, replaced at this moment, or damaged."""
    try:
        return json_file.read(path, *needed)
    except (OSError, ValueError):
        return {}


def _number(value: Any) -> float:
    return value if type(value) in (int, float) else 0
