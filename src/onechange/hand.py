"""One worker of a cluster: it trains a run in a folder of its own, in a process like those of `--jobs`.

Nothing in here knows of Ray, and torch is imported only in the process that trains.
"""

import json
import os
import queue
import shutil
import socket
import subprocess
import sys
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

from onechange import __version__, processor, replica, scratch
from onechange.job_process import JobProcess
from onechange.replica import Mark

PREFIX = "onechange-run-"


@dataclass(frozen=True)
class Introduction:
    """What a worker has to agree with the study in, and where it is."""

    machine: str
    processor: str
    onechange: str = __version__
    torch: str = field(default_factory=lambda: version("torch"))


def introduction() -> Introduction:
    """This process's own."""
    return Introduction(socket.gethostname(), processor.machine()["processor"])


@dataclass(frozen=True)
class News:
    """What a run told since it was last asked: reports of `onechange.orders` as JSON, and how its process ended."""

    reports: list[bytes]
    death: str | None = None


class Hand:
    """Trains one run at a time. The folder is gone at the end of its process, or when the next one begins here."""

    def __init__(self, program: str, threads_variable: str | None) -> None:
        """``program`` is the job's; ``threads_variable`` what OMP_NUM_THREADS is where the study was started."""
        self._program, self._threads_variable = program, threads_variable
        self._stack = ExitStack()
        self._place = self._stack.enter_context(scratch.folder(PREFIX))
        self._inbox: queue.SimpleQueue[tuple[JobProcess, bytes]] = queue.SimpleQueue()
        self._job: JobProcess | None = None
        self._home = ""
        self.clear()

    def introduce(self) -> Introduction:
        """Who this is."""
        return introduction()

    def clear(self) -> None:
        """Be ready for another run."""
        for folder in (self._run, self._photo):
            shutil.rmtree(folder, ignore_errors=True)
        self._run.mkdir()

    def write(self, name: str, piece: bytes) -> None:
        """Append to the file ``name`` of the run that is to begin."""
        path = self._run / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            file.write(piece)

    def begin(self, order: bytes) -> dict[str, Mark]:
        """Train as ordered, from what was written; returns the marks of that."""
        held = self.look()
        told = json.loads(order)
        self._home, told["run"] = told["run"], str(self._run)
        if self._job is None:
            self._job = JobProcess(self._inbox, self._program, _modules(), self._environment())
        self._job.send(json.dumps(told).encode())
        return held

    def news(self, patience: float) -> News:
        """What was told meanwhile, or within ``patience`` seconds."""
        reports: list[bytes] = []
        with suppress(queue.Empty):
            while True:
                job, line = self._inbox.get(timeout=0 if reports else patience)
                if job is not self._job:
                    continue
                if not line:
                    how = job.death()
                    job.wait(0.0)
                    self._job = None
                    return News(reports, how)
                reports.append(self._at_home(line))
        return News(reports)

    def look(self) -> dict[str, Mark]:
        """Photograph the run; `read` reads from that."""
        return replica.photograph(self._run, self._photo)

    def read(self, name: str, start: int) -> bytes:
        """A piece of a photographed file, empty at its end."""
        with (self._photo / name).open("rb") as file:
            file.seek(start)
            return file.read(replica.PIECE)

    def stop(self) -> None:
        """Ask the run to stop after its step."""
        if self._job:
            self._job.stop()

    def close(self) -> None:
        """End the process that trains, and leave nothing behind."""
        if self._job:
            self._job.close()
            self._job.wait(5.0)
        self._stack.close()

    @property
    def _run(self) -> Path:
        return self._place / "run"

    @property
    def _photo(self) -> Path:
        return self._place / "photo"

    def _at_home(self, line: bytes) -> bytes:
        """What is told of the run's folder is told of the study's."""
        here, home = (
            json.dumps(path, ensure_ascii=False)[1:-1].encode() for path in (str(self._run), self._home)
        )
        return line.replace(here, home)

    def _environment(self) -> dict[str, str]:
        """This process's, but the number of threads that Ray gave it: a run's stands in its recipe."""
        kept = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
        return kept | ({"OMP_NUM_THREADS": self._threads_variable} if self._threads_variable else {})


def _modules() -> list[str]:
    """Where a Python of this machine finds its modules: Ray puts folders of its own, and the study's, before them."""
    program = "import json, sys; print(json.dumps(sys.path))"
    return json.loads(subprocess.check_output([sys.executable, "-P", "-c", program]))
