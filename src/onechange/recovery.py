"""Where a run goes on from: its newest checkpoint from which everything can be made again.

That takes a checkpoint whose files are as they were written, the history up to it, and the best checkpoint of that
history. What is damaged is set aside in `checkpoints/damaged`, never deleted or overwritten.
"""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

from onechange import atomic, shapes
from onechange.checkpoint import Checkpoints, Which
from onechange.digest import Damaged
from onechange.history import History, best


def settle(
    checkpoints: Checkpoints, metrics: History, timing: History, steps: int, say: Callable[[str], None]
) -> int:
    """The step to go on from, 0 for the start; pointers and histories are brought to it.

    ``steps``: how many the run has. ``say`` is told in a line what was damaged.
    """
    damage: dict[Path, Damaged] = {}
    found = next((step for step in checkpoints.steps() if _usable(checkpoints, metrics, step, damage)), 0)
    for which in get_args(Which):
        try:
            checkpoints.step(which)
        except Damaged as error:
            if error.path == checkpoints.pointer(which) or not error.path.parent.is_dir():
                damage[checkpoints.pointer(which)] = error
    for path in {_unit(checkpoints, path) for path in damage}:
        _set_aside(checkpoints.folder / "damaged", path)
    if damage:
        from_where = f"from step {found}" if found else "from the start"
        told = "; ".join(str(error) for error in damage.values())
        say(f"{told}; set aside in {checkpoints.folder / 'damaged'}, going on {from_where}")
    metrics.keep(checkpoints.state(found)["history"]["bytes"] if found else 0)
    _cut_times(timing, found, checkpoints)
    if found:  # a kill may have moved `best` on, or left folders that no pointer names
        checkpoints.point("best", best(metrics.rows()))
        checkpoints.point("last", found)
    else:
        for which in get_args(Which):
            checkpoints.pointer(which).unlink(missing_ok=True)
    checkpoints.tidy(finished=found == steps)
    return found


def _usable(checkpoints: Checkpoints, metrics: History, step: int, damage: dict[Path, Damaged]) -> bool:
    """Whether the run can go on from ``step``; what speaks against it is noted in ``damage``."""
    try:
        state = checkpoints.verify(step)
        history = metrics.as_marked(state.get("history"))
        kept = best(history)
        if kept != step:
            checkpoints.verify(kept)
    except Damaged as error:
        damage.setdefault(error.path, error)
        return False
    return True


def _unit(checkpoints: Checkpoints, path: Path) -> Path:
    """What is set aside with a damaged file: its whole checkpoint, or itself."""
    return path if path.parent in (checkpoints.folder, checkpoints.folder.parent) else path.parent


def _set_aside(folder: Path, path: Path) -> None:
    if not path.exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    number, place = 1, folder / path.name
    while place.exists():
        number += 1
        place = folder / f"{path.name}-{number}"
    if path.suffix == ".jsonl":  # its sound beginning stays in use
        with atomic.naming(place):
            shutil.copyfile(path, place)
    else:
        path.rename(place)
    atomic.sync(folder)


def _cut_times(timing: History, step: int, checkpoints: Checkpoints) -> None:
    """Times are told, not computed with: of a damaged file the lines that can be read stay."""
    try:
        shapes.fit(timing.rows(), list[shapes.Times], timing.path)
        timing.cut(step)
    except ValueError:
        _set_aside(checkpoints.folder / "damaged", timing.path)
        kept = [row for row in timing.readable() if _is_time(row, timing.path) and row["step"] <= step]
        atomic.write(timing.path, "".join(json.dumps(row) + "\n" for row in kept))


def _is_time(row: dict[str, Any], path: Path) -> bool:
    try:
        shapes.fit(row, shapes.Times, path)
    except ValueError:
        return False
    return True
