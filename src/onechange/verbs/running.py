"""`onechange run`: from words to a plan, then the laboratory, then the outcome."""

import os
import shlex
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from onechange import (
    differences,
    estimate,
    finiteness,
    jobs,
    laboratory,
    launch,
    source,
    study_file,
    tracker,
    tracking,
)
from onechange.cluster import Cluster
from onechange.family import resolve
from onechange.following import follow
from onechange.jobs import Jobs
from onechange.plan import Plan
from onechange.processes import Group, Lost
from onechange.report import read as read_report
from onechange.report import terminal
from onechange.study import Study
from onechange.study_folder import StudyFolder
from onechange.tracker import Tracker
from onechange.verbs import output, preparing
from onechange.verbs.progress import Progress

DEFAULT_STUDY = "tokenizers-and-positions"
DEFAULT_SCALE = "quick"
MOST_SEEDS = 1000


@dataclass(frozen=True)
class Request:
    """The words of the command, ``None`` where none was given."""

    study: str | None
    scale: str | None
    data: str | None
    out: Path | None
    seeds: str | None
    arms: list[str]
    resume: bool
    on_nonfinite: str = "stop"
    processes: int | None = None
    jobs: int | None = None
    track: Sequence[str] = ()
    cluster: str | None = None
    """The address of a Ray cluster, whose machines train the runs instead of this one."""

    def trackers(self) -> dict[str, type[Tracker]]:
        """Every tracker by its word; a `LookupError` or `ValueError` says of a word why it is none."""
        return {word: tracker.find(word) for word in self.track}

    @property
    def command(self) -> str:
        """The command that repeats the study on another machine."""
        words = ["onechange", "run", self.study or DEFAULT_STUDY, "--scale", self.scale or DEFAULT_SCALE]
        if self.data:
            words += ["--data", self.data]
        words += ["--seeds", self.seeds or "1"]
        if self.on_nonfinite != "stop":
            words += ["--on-nonfinite", self.on_nonfinite]
        return shlex.join(words + [word for arm in self.arms for word in ("--arm", arm)])


@preparing.shown()
def run(request: Request, as_json: bool) -> None:
    """Start or resume the study and show what came of it; exit status 1 if a run failed.

    In every process but the first of several: take part in the runs of the first.
    """
    request = _reconciled(request)
    if launch.was_restarted():
        request = replace(request, resume=True)
    try:
        with launch.gathered(request.processes) as group:
            if group.rank:
                _follow(group)
            else:
                _lead(request, group, as_json)
    except Lost as error:
        output.notes.print(f"onechange: {error}", markup=False, soft_wrap=True)
        sys.stderr.flush()
        os._exit(1)  # broken connections are not waited for


def _reconciled(request: Request) -> Request:
    """A run that is spread over processes has the machine to itself."""
    processes = launch.asked(request.processes)
    if request.cluster is not None and processes > 1:
        raise ValueError(
            f"--cluster {request.cluster}: not with {processes} processes; on a cluster every run has one process"
        )
    if processes == 1:
        return request
    if (request.jobs or 1) > 1:
        raise ValueError(
            f"--jobs {request.jobs}: must be 1 with {processes} processes; runs that are spread go one after another"
        )
    return replace(request, jobs=1)


def _follow(group: Group) -> None:
    try:
        follow(group)
    except Lost:
        os._exit(1)  # the first process tells the person, or is gone itself
    except KeyboardInterrupt:
        os._exit(130)
    except (ValueError, LookupError, OSError) as error:
        # Only this process knows: its text is not the first one's.
        kind = OSError if isinstance(error, OSError) else ValueError
        raise kind(f"process {group.rank + 1} of {group.size}: {error}") from error


def _lead(request: Request, group: Group, as_json: bool) -> None:
    policy, trackers = finiteness.checked(request.on_nonfinite), request.trackers()
    new_plan, content, folder = _prepare(request, group.local_size)
    launch.check_rows(
        group.size, {arm: new_plan.study.settings(arm, new_plan.scale)["batch"] for arm in new_plan.arms}
    )
    if folder.exists and not request.resume:
        raise ValueError(
            f"{folder.path} holds a study already: --resume goes on with it, another --out starts afresh"
        )
    with ExitStack() as stack:
        started = None
        if not folder.exists:
            started = _start_jobs(stack, request, folder, new_plan)  # they import while the text is prepared
            new_plan.check()  # what is wrong with text or settings leaves no folder behind
            estimate.time_steps(new_plan, _say)
        stack.enter_context(folder.locked())
        if folder.exists:
            plan = _resumed(request, folder, new_plan)
            started = started or _start_jobs(stack, request, folder, plan)
        else:
            plan = new_plan
            _say_means(plan, group.size)
            folder.begin(plan, content, request.study or DEFAULT_STUDY, request.command)
        for arm in plan.arms:  # a large text has a bar of its own
            plan.dataset(arm)
        side_by_side = started.number if started else 1
        unfinished = _unfinished(plan, folder)
        runs = {run: folder.run(*run) for run in plan.runs}
        with (
            Progress(plan.runs, unfinished, side_by_side) as progress,
            tracking.told(trackers, folder.path, runs, unfinished, progress) as watcher,
        ):
            results = laboratory.run(plan, folder, watcher, started, group, policy)
    if as_json:
        output.document(results)
    else:
        show(folder.path)
    if any(run["status"] == "failed" for arm in results["arms"] for run in arm["runs"]):
        sys.exit(1)


def show(folder: Path) -> None:
    """The answer, the ladder and the table of a study, and where its page is."""
    found = read_report(folder)
    output.out.print(Text(f"{found.question}\n", "bold"))
    output.out.print(terminal.answer(found), "")
    output.out.print(terminal.ladder(found, min(100, output.out.width)))
    output.out.print(terminal.table(found))
    output.out.print(f"report: {folder / 'report.html'}", soft_wrap=True)


@preparing.shown()
def dry_run(request: Request, as_json: bool) -> None:
    """Show every arm, its one change, what follows from it, and about how long it would take here."""
    request = _reconciled(request)
    request.trackers()
    if request.cluster is not None:
        raise ValueError(f"--dry-run estimates for this machine alone: leave out --cluster {request.cluster}")
    processes = launch.asked(request.processes)
    plan, _, _ = _prepare(request, processes)
    arms = []
    estimate.time_steps(plan, _say)
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
    total = estimate.side_by_side((each[arm] for arm, _ in plan.runs), number, slower)
    if as_json:
        output.document(
            {
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
                "estimated_seconds": total,
                "arms": arms,
            }
        )
        return
    _say_means(plan, processes)
    output.out.print(_side_by_side(arms))
    count = f"{len(plan.seeds)} seed" + ("s" if len(plan.seeds) > 1 else "")
    output.out.print(
        f"\nTraining {len(arms)} arms, {count}{_beside(number, slower)}: about {duration(total)} on this machine; "
        "compiling, evaluations and samples come on top.\nNothing was trained."
    )


def _beside(number: int, slower: float) -> str:
    """What the estimate assumes of runs side by side."""
    if number == 1:
        return ""
    how = f"each {slower:.2g} times slower for it" if slower > 1 else "none slower for it"
    return f", {number} runs at a time and {how}"


def duration(seconds: float) -> str:
    """Seconds as a person says them."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    if seconds < 100 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def seeds(word: str) -> list[int]:
    """``"5"`` is 0 to 4, ``"3,5"`` a list. A `ValueError` says what is allowed."""
    try:
        numbers = [int(part) for part in word.split(",") if part.strip()]
    except ValueError:
        numbers = []
    if "," in word and numbers and min(numbers) >= 0 and len(set(numbers)) == len(numbers):
        return numbers
    if "," not in word and len(numbers) == 1 and 1 <= numbers[0] <= MOST_SEEDS:
        return list(range(numbers[0]))
    raise ValueError(
        f"--seeds {word!r}: a number from 1 to {MOST_SEEDS} (5 is seeds 0 to 4), or a list of different seeds: 3,5"
    )


def _prepare(request: Request, processes: int) -> tuple[Plan, bytes, StudyFolder]:
    path = study_file.locate(request.study or DEFAULT_STUDY)
    if request.resume and request.study is None and request.out and StudyFolder(request.out).exists:
        path = request.out / "study.toml"
    content = path.read_bytes()
    found = study_file.read(path)
    scale = request.scale or DEFAULT_SCALE
    table = source.parse(request.data) if request.data else resolve("corpus", found.corpus)
    table = {**table, "test": found.test_share(table)}
    chosen = seeds(request.seeds or "1")
    arms = _wanted(found, scale, request.arms) or found.names(scale)
    plan = Plan(found, scale, table, chosen, arms, watch=preparing.watch, processes=processes)
    out = request.out or Path("runs") / f"{path.stem}-{scale}-{table['name']}"
    if out.exists() and not out.is_dir():
        raise ValueError(f"--out {out}: is a file, it must be a folder or not exist")
    return plan, content, StudyFolder(out)


def _wanted(study: Study, scale: str, words: list[str]) -> list[str]:
    """The arms that were asked for, in the study's order; a sweep's name stands for all of its arms."""
    names = study.names(scale)
    sweeps = {name: arm.sweep.name for name in names if (arm := study.arm(name)) and arm.sweep}
    for word in words:
        if word not in names and word not in sweeps.values():
            known = [*names, *dict.fromkeys(sweeps.values())]
            raise LookupError(f"no arm {word!r} in this study; there is {', '.join(known)}")
    return [name for name in names if name in words or sweeps.get(name) in words]


def _unfinished(plan: Plan, folder: StudyFolder) -> list[tuple[str, int]]:
    return [run for run in plan.runs if not (folder.run(*run) / "measures.json").is_file()]


def _start_jobs(stack: ExitStack, request: Request, folder: StudyFolder, plan: Plan) -> Jobs | Cluster | None:
    """Who trains runs side by side, if any are to be: the machines of a cluster, or processes of this one."""
    runs = len(_unfinished(plan, folder))
    if request.cluster is not None and runs:
        threads, where = jobs.threads_of_a_run(plan), jobs.device_of_a_run(plan)
        most = min(request.jobs or runs, runs)
        return stack.enter_context(Cluster(request.cluster, threads, where, most, _say))
    number = jobs.count(plan, runs, request.jobs)
    return stack.enter_context(Jobs(number, _say)) if number > 1 else None


def _say(note: str) -> None:
    output.notes.print(note, style="yellow", markup=False)


def _resumed(request: Request, folder: StudyFolder, asked: Plan) -> Plan:
    """The plan of the study in ``folder``; what the command says otherwise must agree with it."""
    start = folder.start()
    if request.study is not None and (changed := differences.of_studies(folder.study(), asked.study)):
        raise ValueError(f"{folder.path} holds another study than {request.study!r}: {changed}")
    if request.scale is not None and request.scale != start.scale:
        raise ValueError(f"{folder.path} was started with --scale {start.scale}, not {request.scale}")
    if request.data is not None and dict(asked.source) != start.source:
        raise ValueError(f"{folder.path} was started with other data than {request.data!r}: {start.source}")
    found = folder.study()
    arms = _wanted(found, start.scale, request.arms) or None
    numbers = set(folder.all_seeds()) if request.seeds is None or not request.arms else set()
    numbers |= set(seeds(request.seeds)) if request.seeds else set()
    return replace(folder.plan(sorted(numbers or {0}), arms), watch=preparing.watch)


def _say_means(plan: Plan, processes: int) -> None:
    chosen = plan.chosen
    why = estimate.why_eager(plan)
    how = "compiled" if chosen.compile else f"eager ({why})" if why else "eager"
    threads = f"{chosen.threads} thread" + ("s" if chosen.threads > 1 else "")
    each = f"{processes} processes of {threads}" if processes > 1 else threads
    on = f" on {chosen.device}" if chosen.device != "cpu" else ""
    output.notes.print(f"{each}, {chosen.precision}{on}, {how}")


def _side_by_side(arms: list[dict[str, Any]]) -> Table:
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
