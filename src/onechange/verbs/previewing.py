"""`onechange run --dry-run`: what would run, what follows from each change, and about how long it would take here."""

from collections.abc import Callable, Iterator
from typing import Any

from rich.table import Table

from onechange import estimate, jobs, launch
from onechange.plan import Plan
from onechange.verbs import means, output, preparing
from onechange.verbs.asking import DEFAULT_STUDY, Request, prepared, reconciled
from onechange.verbs.output import duration, say

TITLES, COLUMN = 25, 17
"""Columns of the terminal for the rows' titles and for each arm."""


@preparing.shown()
def dry_run(request: Request, as_json: bool) -> None:
    """Show every arm, its one change, what follows from it, and about how long it would take here."""
    plan, found = previewed(request, say)
    if as_json:
        output.document(found)
        return
    say(means.told(plan, found["processes"]))
    for some in _fitting(found["arms"], output.out.width):
        output.out.print(_table(some), "")
    count = f"{len(plan.seeds)} seed" + ("s" if len(plan.seeds) > 1 else "")
    beside = _beside(found["jobs"], estimate.crowding(found["jobs"], plan.chosen.threads))
    output.out.print(
        f"Training {len(found['arms'])} arms, {_tuned(plan)}{count}{beside}: about "
        f"{duration(found['estimated_seconds'])} on this machine; compiling, evaluations and samples come on top.\n"
        "Nothing was trained."
    )


def previewed(request: Request, say: Callable[[str], None]) -> tuple[Plan, dict[str, Any]]:
    """The plan and the document of ``--json``: what would run, what follows from it, and the estimated seconds."""
    request = reconciled(request)
    request.trackers()
    if request.cluster is not None:
        raise ValueError(f"--dry-run estimates for this machine alone: leave out --cluster {request.cluster}")
    processes = launch.asked(request.processes)
    plan, _, _ = prepared(request, processes)
    plan.check()
    arms = []
    estimate.time_steps(plan, say)
    for name in plan.arms:
        seconds = estimate.seconds_per_step(plan.recipe(name, 0), plan.dataset(name)) / processes
        arms.append({**plan.facts(name), "seconds_per_step": seconds})
    number = jobs.count(plan, len(plan.runs), request.jobs)
    slower = estimate.crowding(number, plan.chosen.threads)
    each = {
        other: arm["seconds_per_step"] * arm["steps"]
        for arm in arms
        for other in (arm["name"], *plan.study.candidates(arm["name"], plan.scale).values())
    }
    return plan, {
        "study": request.study or DEFAULT_STUDY,
        "scale": plan.scale,
        "question": plan.study.question,
        "corpus": plan.corpus.facts,
        "seeds": list(plan.seeds),
        "processes": processes,
        "threads": plan.chosen.threads,
        "precision": plan.chosen.precision,
        "compile": plan.chosen.compile,
        "device": plan.chosen.device,
        "jobs": number,
        "estimated_seconds": estimate.side_by_side((each[arm] for arm, _ in plan.runs), number, slower),
        "arms": arms,
    }


def _fitting(arms: list[dict[str, Any]], width: int) -> Iterator[list[dict[str, Any]]]:
    """The arms in groups that a terminal has room for beside each other."""
    most = max(1, (width - TITLES) // COLUMN)
    for first in range(0, len(arms), most):
        yield arms[first : first + most]


def _tuned(plan: Plan) -> str:
    """What tuning adds to the runs."""
    if (tuning := plan.study.tuning) is None:
        return ""
    return f"tuned in {tuning.path} ({len(plan.run_names)} runs for each seed), "


def _beside(number: int, slower: float) -> str:
    """What the estimate assumes of runs side by side."""
    if number == 1:
        return ""
    how = f"each {slower:.2g} times slower for it" if slower > 1 else "none slower for it"
    return f", {number} runs at a time and {how}"


def _table(arms: list[dict[str, Any]]) -> Table:
    """One column per arm: a terminal is wide enough for a study's arms, not for all that is to be said of one."""
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column("arm")
    for arm in arms:
        table.add_column(arm["name"], overflow="fold")
    rows: dict[str, Callable[[dict[str, Any]], str]] = {
        "from": lambda arm: arm["from"] or "the base",
        "its one change": lambda arm: _change(arm["change"]),
        "parameters": lambda arm: f"{arm['parameters']:,}",
        "  of them embedding": lambda arm: f"{arm['embedding_share']:.0%}",
        "vocabulary": lambda arm: f"{arm['vocabulary']:,}",
        "characters per token": lambda arm: f"{arm['characters_per_token']:.2f}",
        "characters per window": lambda arm: f"{arm['characters_per_window']:,.0f}",
        "steps": lambda arm: f"{arm['steps']:,}",
        "tokens": lambda arm: f"{arm['tokens']:,}",
        "training text seen": lambda arm: f"{arm['times_text_seen']:.2g} times",
        "operations": lambda arm: f"{arm['operations']:.2g}",
        "  per character": lambda arm: f"{arm['operations_per_character']:.2g}",
        "time, about": lambda arm: duration(arm["seconds_per_step"] * arm["steps"]),
    }
    for title, cell in rows.items():
        table.add_row(title, *(cell(arm) for arm in arms))
    return table


def _change(change: dict[str, Any] | None) -> str:
    if not change:
        return ""
    ((key, value),) = change.items()
    if isinstance(value, dict):
        settings = ", ".join(f"{k} = {v}" for k, v in value.items() if k != "name")
        value = f"{value['name']} ({settings})" if "name" in value else settings
    return f"{key}: {value}"
