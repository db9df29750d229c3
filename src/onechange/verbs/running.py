"""`onechange run`: from words to a plan, then the laboratory, then the outcome."""

import os
import sys
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from rich.text import Text

from onechange import (
    differences,
    estimate,
    finiteness,
    jobs,
    laboratory,
    launch,
    tracking,
)
from onechange.cluster import Cluster
from onechange.following import follow
from onechange.jobs import Jobs
from onechange.plan import Plan
from onechange.processes import Group, Lost
from onechange.report import read as read_report
from onechange.report import terminal
from onechange.study_folder import StudyFolder
from onechange.verbs import output, preparing
from onechange.verbs.asking import DEFAULT_STUDY, Request, prepared, reconciled, seeds, wanted
from onechange.verbs.means import say_means
from onechange.verbs.output import say
from onechange.verbs.progress import Progress


@preparing.shown()
def run(request: Request, as_json: bool) -> None:
    """Start or resume the study and show what came of it; exit status 1 if a run failed.

    In every process but the first of several: take part in the runs of the first.
    """
    request = reconciled(request)
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
    new_plan, content, folder = prepared(request, group.local_size)
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
            estimate.time_steps(new_plan, say)
        stack.enter_context(folder.locked())
        if folder.exists:
            plan = _resumed(request, folder, new_plan)
            started = started or _start_jobs(stack, request, folder, plan)
        else:
            plan = new_plan
            say_means(plan, group.size)
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
    if any((path / "failure.json").is_file() for path in runs.values()):
        sys.exit(1)


def show(folder: Path) -> None:
    """The answer, the ladder and the table of a study, and where its page is."""
    found = read_report(folder)
    output.out.print(Text(f"{found.question}\n", "bold"))
    output.out.print(terminal.answer(found), "")
    output.out.print(terminal.ladder(found, min(100, output.out.width)))
    output.out.print(terminal.table(found))
    output.out.print(f"report: {folder / 'report.html'}", soft_wrap=True)


def _unfinished(plan: Plan, folder: StudyFolder) -> list[tuple[str, int]]:
    return [run for run in plan.runs if not (folder.run(*run) / "measures.json").is_file()]


def _start_jobs(stack: ExitStack, request: Request, folder: StudyFolder, plan: Plan) -> Jobs | Cluster | None:
    """Who trains runs side by side, if any are to be: the machines of a cluster, or processes of this one."""
    runs = len(_unfinished(plan, folder))
    if request.cluster is not None and runs:
        threads, where = jobs.threads_of_a_run(plan), jobs.device_of_a_run(plan)
        most = min(request.jobs or runs, runs)
        return stack.enter_context(Cluster(request.cluster, threads, where, most, say))
    number = jobs.count(plan, runs, request.jobs)
    return stack.enter_context(Jobs(number, say)) if number > 1 else None


def _resumed(request: Request, folder: StudyFolder, asked: Plan) -> Plan:
    """The plan of the study in ``folder``; what the command says otherwise must agree with it."""
    executed = {one.key: one.version for one in asked.outside}
    start = folder.start()
    if request.study is not None and (changed := differences.of_studies(folder.study(), asked.study)):
        raise ValueError(f"{folder.path} holds another study than {request.study!r}: {changed}")
    held = {one.key: one.version for one in start.outside if one.key in executed}
    now = {key: version for key, version in executed.items() if key in held}
    if changed := differences.of_versions(held, now):
        raise ValueError(
            f"{folder.path} was begun with other code: {changed}; put it back, or choose another --out"
        )
    if request.scale is not None and request.scale != start.scale:
        raise ValueError(f"{folder.path} was started with --scale {start.scale}, not {request.scale}")
    if request.data is not None and dict(asked.source) != start.source:
        raise ValueError(f"{folder.path} was started with other data than {request.data!r}: {start.source}")
    found = folder.study()
    arms = wanted(found, start.scale, request.arms) or None
    numbers = set(folder.all_seeds()) if request.seeds is None or not request.arms else set()
    numbers |= set(seeds(request.seeds)) if request.seeds else set()
    return replace(folder.plan(sorted(numbers or {0}), arms), watch=preparing.watch)
