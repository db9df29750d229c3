"""`onechange status`: where every run of a study stands."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from onechange import standing
from onechange.study_folder import StudyFolder
from onechange.verbs import output
from onechange.verbs.output import duration


def show(folder: Path, as_json: bool) -> None:
    """Print a line for every arm and seed."""
    found = standing.collect(StudyFolder(folder))
    if as_json:
        output.document(found)
        return
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for title in ("arm", "seed", "state", "step", "validation", "time", "left", "heard of"):
        table.add_column(title, overflow="fold")
    now = datetime.now(UTC)
    for run in found["runs"]:
        table.add_row(*(Text(cell) for cell in _cells(run, now)))
    output.out.print(table)
    for run in found["runs"]:
        if run["error"]:
            output.out.print(
                f"{run['arm']}, seed {run['seed']}: {run['error']}", markup=False, soft_wrap=True
            )


def _cells(run: dict[str, Any], now: datetime) -> list[str]:
    nats, left, heard = run["validation_nats_per_character"], run["seconds_left"], run["heard"]
    begun = run["state"] != "not started"
    return [
        run["arm"],
        str(run["seed"]),
        run["state"],
        f"{run['step'] if begun else 0:,}/{run['steps']:,}",
        f"{nats:.4f}" if isinstance(nats, float) else "",
        duration(run["seconds"]) if begun else "",
        duration(left) if isinstance(left, int | float) else "",
        f"{duration(max(0.0, (now - datetime.fromisoformat(heard)).total_seconds()))} ago" if heard else "",
    ]
