"""Runs side by side: processes that each train one run at a time, started once and handed one order after another.

How many there are changes no run: a run's threads stand in its recipe, and nothing is shared but the machine.
"""

import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from types import FrameType

import msgspec

from onechange import budget, processor
from onechange.orders import Failed, Finished, Order, Refused, Remarked, Report, Stepped, Stopped
from onechange.plan import Plan

SECONDS_TO_STOP = 120.0
"""How long a job may take to finish its step and to save; then it is killed, and its run resumes further back."""
OPERATIONS_WORTH_A_PROCESS = 1e11
"""A run of less work is done before another process has imported what it needs (about 3 seconds)."""

PROGRAM = "import sys; sys.path[:] = sys.argv[1:]; from onechange.job import main; main()"
"""What a job runs, told this process's `sys.path`: the same modules, whatever lies in the working folder."""


def _leave(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


def count(plan: Plan, runs: int, asked: int | None) -> int:
    """How many of the study's ``runs`` unfinished runs go side by side: as ``asked``, or as there are processors for.

    Needs no corpus: what is known of a run before its text is read decides.
    """
    base = plan.study.settings(plan.study.base_name, plan.scale)
    threads = plan.means.threads if plan.means else processor.threads(base["threads"])
    if asked is None and budget.rough_operations(base) < OPERATIONS_WORTH_A_PROCESS:
        return 1
    return max(1, min(asked or processor.threads(0) // threads, runs))


class _Job:
    """One process, as the study sees it."""

    def __init__(self, inbox: "queue.SimpleQueue[tuple[_Job, bytes]]") -> None:
        self.order: Order | None = None
        self._inbox = inbox
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115 (as long as the process)
        # A blocked signal is inherited: Ctrl-C reaches the whole group, and a job must not die of it before it saved.
        unblocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-c", PROGRAM, *sys.path],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._complaints,
            )
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, unblocked)
        threading.Thread(target=self._listen, daemon=True).start()

    def give(self, order: Order) -> None:
        """Send an order and note it; a process that has died reports that in its own way."""
        assert self._process.stdin
        self.order = order
        with suppress(BrokenPipeError):
            self._process.stdin.write(msgspec.json.encode(order) + b"\n")
            self._process.stdin.flush()

    def stop(self) -> None:
        """Ask for the end of its run after the step that it makes."""
        self._process.terminate()

    def close(self) -> None:
        """End its input, and thereby the process."""
        assert self._process.stdin
        with suppress(BrokenPipeError):
            self._process.stdin.close()

    def wait(self, patience: float) -> None:
        """Wait for the end that `close` brings, at most ``patience`` seconds; then kill it."""
        try:
            self._process.wait(patience)
        except subprocess.TimeoutExpired:
            pass
        finally:
            self._process.kill()
            self._process.wait()
            self._complaints.close()

    def death(self) -> str:
        """How its process ended and what it wrote, in words."""
        status = self._process.wait()
        self._complaints.seek(0)
        complaints = self._complaints.read().decode(errors="replace").strip()
        how = f"was killed ({signal.Signals(-status).name})" if status < 0 else f"ended with status {status}"
        return f"{complaints}\n{how}" if complaints else how

    def _listen(self) -> None:
        """Put every line of its reports into the inbox, and at the end an empty one."""
        assert self._process.stdout
        with self._process.stdout as lines:
            for line in iter(lines.readline, b""):
                self._inbox.put((self, line))
        self._inbox.put((self, b""))


class Jobs:
    """Use it as a context: the processes start at once and are gone at its end. ``say`` is told what takes time."""

    def __init__(self, number: int, say: Callable[[str], None]) -> None:
        self.number = number
        self._say = say
        self._inbox: queue.SimpleQueue[tuple[_Job, bytes]] = queue.SimpleQueue()
        self._jobs: list[_Job] = []
        self._put_back: Callable[[], object] = lambda: None

    def __enter__(self) -> "Jobs":
        main = threading.current_thread() is threading.main_thread()
        if main and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:  # it would leave no time to save
            signal.signal(signal.SIGTERM, _leave)
            self._put_back = lambda: signal.signal(signal.SIGTERM, signal.SIG_DFL)
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
        self._say(f"stopping: {len(busy)} run{'s' if len(busy) > 1 else ''} still to finish a step and save")
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
