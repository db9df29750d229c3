"""Runs on the machines of a Ray cluster: each a task with its cores, begun again elsewhere when its worker dies.

A worker (`onechange.hand`) trains in a folder of its own; what it saves is brought to the study's folder, where this
process alone writes (`onechange.replica`).
"""

import os
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

import msgspec

from onechange import hand, jobs, ray_connection
from onechange.checkpoint import Checkpoints
from onechange.cluster_worker import Lost, Worker
from onechange.digest import Damaged
from onechange.hand import Hand, Introduction, News
from onechange.orders import Failed, Finished, Order, Refused, Remarked, Report, Stepped, Stopped
from onechange.recipe import Device

SECONDS_BETWEEN_LOOKS = 5.0
"""After which a run's folder is looked at though no evaluation was told: as often as `progress.json` is written."""
SECONDS_BEFORE_A_WORD = 20.0
SECONDS_WITHOUT_A_WORKER = 300.0
"""How long a study waits for a machine with room, when it has none."""
MOST_DEATHS = 3
"""So many deaths of one run's worker without a new checkpoint, and the study stops."""


OUR_OWN_MISTAKE = "ended with status 1"
"""How a job ends that a mistake in this program ended: another try would end the same way."""


class Cluster:
    """Use it as a context: the workers are wanted at once and gone at its end. ``say`` is told what takes time."""

    def __init__(
        self, address: str, threads: int, device: Device, most: int, say: Callable[[str], None]
    ) -> None:
        """At most ``most`` runs at a time, each with so many ``threads`` on ``device``.

        ``address`` is that of a running cluster, ``auto``, or ``local``.
        """
        self.number = most
        self._address, self._threads = address, threads
        self._device: Device = device
        self._say = say
        self._stack = ExitStack()
        self._workers: list[Worker] = []
        self._me = hand.introduction()
        self._strange: set[str] = set()
        self._deaths: Counter[str] = Counter()
        self._reached: dict[str, int] = {}
        self._told_to_wait = False
        self._failed_starts = 0

    def __enter__(self) -> "Cluster":
        self._put_back = jobs.obey_sigterm()
        try:
            self._ray = self._stack.enter_context(ray_connection.connected(self._address, self._threads))
            machines = [node["Resources"] for node in self._ray.nodes() if node["Alive"]]
            self.number = min(self.number, room(self._address, machines, self._threads, self._device))
            actor = self._ray.remote(Hand).options(
                num_cpus=self._threads,
                num_gpus=1 if self._device == "cuda" else 0,
                scheduling_strategy="SPREAD",
            )
            given = jobs.PROGRAM, os.environ.get("OMP_NUM_THREADS")
            self._workers = [Worker(self._ray, lambda: actor.remote(*given)) for _ in range(self.number)]
        except BaseException:
            self._stack.close()
            self._put_back()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        try:
            self._stop()
            there = [worker.close() for worker in self._workers if worker.introduction]
            if there:
                self._ray.wait(there, num_returns=len(there), timeout=10.0)
        finally:
            for worker in self._workers:
                worker.let_go()
                with suppress(Exception):  # whatever Ray says of a worker that is gone already
                    worker.kill()
            self._stack.close()
            self._put_back()

    def work(self, orders: Iterable[Order]) -> Iterator[tuple[Order, Stepped | Remarked | Finished | Failed]]:
        """Hand out ``orders``, the next to whichever worker is free, and yield what is told of them.

        A run whose worker dies is given out again. A `ValueError` is the one line of a run that cannot go on, a
        `ChildProcessError` says how its workers died.
        """
        waiting = deque(orders)
        idle_since = time.monotonic()
        while waiting or any(worker.order for worker in self._workers):
            for worker in self._workers:
                if worker.introduction and worker.order is None and waiting:
                    order = waiting.popleft()
                    try:
                        worker.give(order)
                    except Lost as lost:
                        yield order, self._bury(worker, order, str(lost))
                        waiting.appendleft(order)
            if any(worker.introduction for worker in self._workers):
                idle_since = time.monotonic()
            self._wait_for_room(time.monotonic() - idle_since)
            for worker in self._ready(self._workers):
                if worker.order is None:
                    self._meet(worker)
                    continue
                order = worker.order
                try:
                    for report in self._hear(worker):
                        yield order, report
                except Lost as lost:
                    yield order, self._bury(worker, order, str(lost))
                    waiting.appendleft(order)

    def _wait_for_room(self, seconds: float) -> None:
        """Say, and at last complain, that for so many ``seconds`` there has been no worker at all."""
        if seconds > SECONDS_WITHOUT_A_WORKER:
            raise ValueError(
                f"--cluster {self._address}: no machine has had room for a run for {seconds:.0f} seconds; "
                "--resume goes on"
            )
        if seconds > SECONDS_BEFORE_A_WORD and not self._told_to_wait:
            self._told_to_wait = True
            self._say("no machine of the cluster has room for a run at the moment: waiting for one")

    def _ready(self, workers: Iterable[Worker]) -> list[Worker]:
        """Those of whom something is awaited and who have answered, within a second."""
        asked = {worker.answer: worker for worker in workers if worker.order or not worker.introduction}
        ready, _ = self._ray.wait(list(asked), timeout=1.0)
        return [asked[answer] for answer in ready]

    def _meet(self, worker: Worker) -> None:
        """Take in a new worker. A `ValueError` says that it is another program than this one."""
        try:
            found: Introduction = worker.result(worker.answer)
        except Lost as lost:
            self._failed_starts += 1
            if self._failed_starts >= MOST_DEATHS:
                raise ValueError(
                    f"--cluster {self._address}: a worker {lost} before it began; is this onechange "
                    "installed on every machine?"
                ) from None
            worker.start()
            return
        self._failed_starts = 0
        for package in ("onechange", "torch"):
            here, there = getattr(self._me, package), getattr(found, package)
            if here != there:
                raise ValueError(
                    f"--cluster {self._address}: {found.machine} has {package} {there}, this machine {here}: "
                    "install the same version on every machine"
                )
        if found.processor not in (self._me.processor, *self._strange):
            self._strange.add(found.processor)
            self._say(
                f"{found.machine} has another processor ({found.processor}) than this machine "
                f"({self._me.processor}): runs there may differ in their last digits"
            )
        worker.introduction = found

    def _hear(self, worker: Worker) -> Iterator[Stepped | Remarked | Finished | Failed]:
        """What a worker tells of its run, after what goes with it was brought home; `Lost` if it is gone."""
        assert worker.order and worker.introduction
        news: News = worker.result(worker.answer)
        reports = [msgspec.json.decode(line, type=Report) for line in news.reports]
        over = news.death is not None or any(map(_is_end, reports))
        if over or any(map(_is_evaluation, reports)) or self._is_time_to_look(worker):
            worker.bring()
        run = worker.order.run
        if over:
            worker.let_go()
            worker.clear()
        else:
            worker.ask()
        for report in reports:
            if isinstance(report, Refused):
                raise ValueError(self._where(worker, report.error))
            if isinstance(report, Stopped):
                raise Lost("was told to stop")
            yield report
        if news.death is not None:
            complaints, _, how = news.death.rpartition("\n")
            if complaints:
                self._say(complaints)
            if how == OUR_OWN_MISTAKE:
                raise ChildProcessError(f"{run}: its process {how}; --resume goes on")
            raise Lost(how)

    def _bury(self, worker: Worker, order: Order, how: str) -> Remarked:
        """Make a lost worker ready to begin again; a `ChildProcessError` if the run gets no further that way."""
        worker.let_go()
        try:
            worker.clear()
        except Lost:
            worker.kill()
            worker.start()
        step = _last_step(Path(order.run))
        if self._reached.get(order.run) != step:
            self._reached[order.run], self._deaths[order.run] = step, 0
        self._deaths[order.run] += 1
        if self._deaths[order.run] >= MOST_DEATHS:
            raise ChildProcessError(
                f"{order.run}: its worker died {MOST_DEATHS} times at step {step}, the last one {how}; --resume goes on"
            )
        return Remarked(f"its worker {how}; it goes on from " + (f"step {step:,}" if step else "the start"))

    def _stop(self) -> None:
        """Let whoever trains finish the step and save, and bring that home."""
        busy = [worker for worker in self._workers if worker.order]
        if not busy:
            return
        self._say(jobs.stopping(len(busy)))
        for worker in busy:
            worker.stop()
        until = time.monotonic() + jobs.SECONDS_TO_STOP
        while (busy := [worker for worker in busy if worker.order]) and time.monotonic() < until:
            for worker in self._ready(busy):
                with suppress(Lost):
                    if not self._is_at_its_end(worker):
                        worker.ask()
                        continue
                    worker.bring()
                worker.let_go()

    def _is_at_its_end(self, worker: Worker) -> bool:
        """Whether the last answer of a worker ends its run; what else it tells is of no use any more."""
        news: News = worker.result(worker.answer)
        reports = [msgspec.json.decode(line, type=Report) for line in news.reports]
        return news.death is not None or any(map(_is_end, reports))

    def _is_time_to_look(self, worker: Worker) -> bool:
        return time.monotonic() - worker.looked > SECONDS_BETWEEN_LOOKS

    def _where(self, worker: Worker, error: str) -> str:
        assert worker.introduction
        there = worker.introduction.machine
        return error if there == self._me.machine else f"on {there}: {error}"


def room(address: str, machines: Sequence[Mapping[str, float]], threads: int, device: Device) -> int:
    """How many runs with so many ``threads`` on ``device`` the ``machines`` have room for; a `ValueError` if for none.

    A machine is what Ray says that it has.
    """
    processors = [int(machine.get("CPU", 0)) for machine in machines]
    found = sum(number // threads for number in processors)
    if not found:
        raise ValueError(
            f"--cluster {address}: a run has {threads} threads, and the largest machine of the cluster has "
            f"{max(processors, default=0)} processors"
        )
    if device == "cuda":
        found = min(found, sum(int(machine.get("GPU", 0)) for machine in machines))
        if not found:
            raise ValueError(f"--cluster {address}: the runs need CUDA, the cluster has no GPU")
    return found


def _is_end(report: Report) -> bool:
    return not isinstance(report, Stepped | Remarked)


def _is_evaluation(report: Report) -> bool:
    return isinstance(report, Stepped) and report.moment.validation_nats_per_character is not None


def _last_step(run: Path) -> int:
    """The step that a run was saved at last, 0 if it was not."""
    try:
        return Checkpoints(run).step("last") or 0
    except Damaged:
        return 0
