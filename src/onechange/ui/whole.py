"""A whole study out of where its runs stand: what it does, how far it is, and when it will be done."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Literal

from onechange.estimate import side_by_side

Doing = Literal["running", "finished", "failed", "stopped"]


@dataclass(frozen=True)
class Whole:
    """``share`` of all steps is done; ``seconds_left`` is None where nothing runs or no speed is known yet."""

    state: Doing
    finished: int
    of: int
    share: float
    seconds_left: float | None
    heard: str | None
    """When any run last wrote something, in UTC."""


def whole(runs: Sequence[Mapping[str, Any]], held: bool) -> Whole:
    """``runs`` as `onechange.standing` tells of them; ``held``: whether a process holds the study's lock."""
    states = [run["state"] for run in runs]
    if held or "running" in states:
        state: Doing = "running"
    elif states and set(states) == {"finished"}:
        state = "finished"
    else:
        state = "failed" if "failed" in states else "stopped"
    steps = sum(run["steps"] for run in runs)
    done = sum(run["steps"] if run["state"] == "finished" else min(run["step"], run["steps"]) for run in runs)
    return Whole(
        state=state,
        finished=states.count("finished"),
        of=len(runs),
        share=1.0 if state == "finished" else done / steps if steps else 0.0,
        seconds_left=_left(runs) if state == "running" else None,
        heard=max((run["heard"] for run in runs if run["heard"]), default=None),
    )


def _left(runs: Sequence[Mapping[str, Any]]) -> float | None:
    """Seconds until the last step, if runs that wait go as fast as their arm did, or else as the others."""
    speeds: dict[str, list[float]] = {}
    for run in runs:
        if (speed := _seconds_per_step(run)) is not None:
            speeds.setdefault(run["arm"], []).append(speed)
    if not speeds:
        return None
    mean = fmean(speed for found in speeds.values() for speed in found)
    by_arm = {arm: fmean(found) for arm, found in speeds.items()}
    running = [run for run in runs if run["state"] == "running"]
    waiting = [run for run in runs if run["state"] in ("not started", "stopped")]
    seconds = [
        (run["steps"] - run["step"]) * by_arm.get(run["arm"], mean)
        for run in [*running, *waiting]
        if run["steps"] > run["step"]
    ]
    return side_by_side(seconds, max(1, len(running))) if seconds else None


def _seconds_per_step(run: Mapping[str, Any]) -> float | None:
    left, ahead = run["seconds_left"], run["steps"] - run["step"]
    if run["state"] == "running" and isinstance(left, int | float) and ahead > 0:
        return left / ahead
    return run["seconds"] / run["step"] if run["step"] and run["seconds"] else None
