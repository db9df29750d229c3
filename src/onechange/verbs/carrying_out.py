"""A study from words to results: what `onechange run` and the Python interface have in common."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from typing import Any

from onechange import differences, estimate, finiteness, jobs, laboratory, launch, tracking
from onechange.cluster import Cluster
from onechange.jobs import Jobs
from onechange.laboratory import Watcher
from onechange.plan import Plan, Run
from onechange.processes import ALONE, Group
from onechange.study_folder import StudyFolder
from onechange.verbs import means, preparing
from onechange.verbs.asking import DEFAULT_STUDY, Request, prepared, seeds, wanted

Watched = Callable[[Sequence[Run], Sequence[Run], int], AbstractContextManager[Watcher]]
"""Makes whoever watches, once it is known what runs: all runs, those not finished yet, how many go side by side."""


@dataclass(frozen=True)
class Outcome:
    """What came of it: ``results`` are what stands in the folder's `results.json`."""

    folder: StudyFolder
    results: dict[str, Any]
    failed: list[Run]


def carried_out(
    request: Request, watched: Watched, say: Callable[[str], None], group: Group = ALONE
) -> Outcome:
    """Start or resume the study.

    ``say`` is told what a person should know before the first step. A `ValueError` or `LookupError` says which word is
    wrong, and leaves no folder behind. A run that fails is no error: it is marked as failed.
    """
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
            started = _start_jobs(stack, request, folder, new_plan, say)  # they import while text is prepared
            new_plan.check()  # what is wrong with text or settings leaves no folder behind
            estimate.time_steps(new_plan, say)
        stack.enter_context(folder.locked())
        if folder.exists:
            plan = _resumed(request, folder, new_plan)
            started = started or _start_jobs(stack, request, folder, plan, say)
        else:
            plan = new_plan
            say(means.told(plan, group.size))
            folder.begin(plan, content, request.study or DEFAULT_STUDY, request.command)
        for arm in plan.arms:  # a large text has a bar of its own
            plan.dataset(arm)
        unfinished = _unfinished(plan, folder)
        runs = {run: folder.run(*run) for run in plan.runs}
        with (
            watched(plan.runs, unfinished, started.number if started else 1) as watcher,
            tracking.told(trackers, folder.path, runs, unfinished, watcher) as told,
        ):
            results = laboratory.run(plan, folder, told, started, group, policy)
    failed = [run for run, path in runs.items() if (path / "failure.json").is_file()]
    return Outcome(folder, results, failed)


def _unfinished(plan: Plan, folder: StudyFolder) -> list[Run]:
    return [run for run in plan.runs if not (folder.run(*run) / "measures.json").is_file()]


def _start_jobs(
    stack: ExitStack, request: Request, folder: StudyFolder, plan: Plan, say: Callable[[str], None]
) -> Jobs | Cluster | None:
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
