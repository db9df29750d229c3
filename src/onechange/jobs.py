"""Runs side by side: processes that each train one run at a time, started once and handed one order after another.

How many there are changes no run: a run's threads stand in its recipe, and nothing is shared but the machine.
"""

import queue
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from types import FrameType

import msgspec

from onechange import budget, device, processor
from onechange.job_process import PROGRAM, JobProcess
from onechange.orders import Failed, Finished, Order, Refused, Remarked, Report, Stepped, Stopped
from onechange.plan import Plan
from onechange.recipe import Device

SECONDS_TO_STOP = 120.0
"""How long a job may take to finish its step and to save; then it is killed, and its run resumes further back."""
OPERATIONS_WORTH_A_PROCESS = 1e11
"""A run of less work is done before another process has imported what it needs (about 3 seconds)."""


def _leave(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


def obey_sigterm() -> Callable[[], object]:
    """Let SIGTERM raise an exception, so that there is time to save; returns what undoes that."""
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        return lambda: None
    signal.signal(signal.SIGTERM, _leave)
    return lambda: signal.signal(signal.SIGTERM, signal.SIG_DFL)


def stopping(runs: int) -> str:
    """What is said when so many ``runs`` are asked to stop."""
    return f"stopping: {runs} run{'s' if runs > 1 else ''} still to finish a step and save"


def threads_of_a_run(plan: Plan) -> int:
    """How many threads each run of the study has, known before its text is read."""
    wanted = plan.study.settings(plan.study.base_name, plan.scale)["threads"]
    return plan.means.threads if plan.means else processor.threads(wanted)


def device_of_a_run(plan: Plan) -> Device:
    """On what each run of the study computes, known before its text is read."""
    return (
        plan.means.device
        if plan.means
        else device.chosen(plan.study.settings(plan.study.base_name, plan.scale)["device"])
    )


def count(plan: Plan, runs: int, asked: int | None) -> int:
    """How many of the study's ``runs`` unfinished runs go side by side: as ``asked``, or as there are processors for.

    Needs no corpus: what is known of a run before its text is read decides.
    """
    base = plan.study.settings(plan.study.base_name, plan.scale)
    threads = threads_of_a_run(plan)
    if asked is None and budget.rough_operations(base) < OPERATIONS_WORTH_A_PROCESS:
        return 1
    return max(1, min(asked or processor.threads(0) // threads, runs))


class _Job(JobProcess):
    """One process and the order that it carries out."""

    def __init__(self, inbox: "queue.SimpleQueue[tuple[_Job, bytes]]") -> None:
        self.order: Order | None = None
        super().__init__(inbox, PROGRAM)

    def give(self, order: Order) -> None:
        """Send an order and note it."""
        self.order = order
        self.send(msgspec.json.encode(order))


class Jobs:
    """Use it as a context: the processes start at once and are gone at its end. ``say`` is told what takes time."""

    def __init__(self, number: int, say: Callable[[str], None]) -> None:
        self.number = number
        self._say = say
        self._inbox: queue.SimpleQueue[tuple[_Job, bytes]] = queue.SimpleQueue()
        self._jobs: list[_Job] = []
        self._put_back: Callable[[], object] = lambda: None

    def __enter__(self) -> "Jobs":
        self._put_back = obey_sigterm()
        try:
            for _ in range(self.number):
                self._jobs.append(_Job(self._inbox))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        patience = 0.0
        try:
            self._stop()
            patience = 5.0
        finally:
            for job in self._jobs:
                job.close()
            for job in self._jobs:
                job.wait(patience)
            self._put_back()

    def work(self, orders: Iterable[Order]) -> Iterator[tuple[Order, Stepped | Remarked | Finished | Failed]]:
        """Hand out ``orders``, the next to whichever job is free, and yield what is told of them.

        A `ValueError` is the one line of a run that cannot go on, a `ChildProcessError` says how a process died.
        """
        waiting = deque(orders)
        for job in self._jobs:
            self._give(job, waiting)
        while any(job.order for job in self._jobs):
            job, report = self._next()
            if job.order is None:  # it had nothing left to do and is gone
                continue
            order = job.order
            match report:
                case Stepped() | Remarked():
                    yield order, report
                case Finished() | Failed():
                    self._give(job, waiting)
                    yield order, report
                case Refused(error):
                    job.order = None
                    raise ValueError(error)
                case Stopped():
                    job.order = None
                    raise ChildProcessError(f"{order.run}: its process was told to stop; --resume goes on")
                case None:
                    job.order = None
                    complaints, _, how = job.death().rpartition("\n")
                    if complaints:
                        self._say(complaints)
                    advice = ", with fewer --jobs if memory ran out" if "SIGKILL" in how else ""
                    raise ChildProcessError(f"{order.run}: its process {how}; --resume goes on{advice}")

    def _give(self, job: _Job, waiting: deque[Order]) -> None:
        job.order = None
        if waiting:
            job.give(waiting.popleft())
        else:  # its memory is of use to the others
            job.close()

    def _next(self, timeout: float | None = None) -> tuple[_Job, Report | None]:
        """What is told next, ``None`` by a process that has ended."""
        job, line = self._inbox.get(timeout=timeout)
        return job, msgspec.json.decode(line, type=Report) if line else None

    def _stop(self) -> None:
        """Let whoever trains finish the step and save."""
        busy = [job for job in self._jobs if job.order]
        if not busy:
            return
        self._say(stopping(len(busy)))
        for job in busy:
            job.stop()
        until = time.monotonic() + SECONDS_TO_STOP
        while any(job.order for job in busy):
            try:
                job, report = self._next(max(0.0, until - time.monotonic()))
            except queue.Empty:
                return
            if not isinstance(report, Stepped | Remarked):
                job.order = None
