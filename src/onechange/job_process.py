"""A process that trains runs, seen from outside: lines go in, lines come out. Its program is `onechange.job`."""

import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from onechange import apart

PROGRAM = "import sys; sys.path[:] = sys.argv[1:]; from onechange.job import main; main()"
"""What a job runs, told where modules lie: the same ones, whatever lies in the working folder."""


STOP = b""
"""The line that asks for the end."""


class JobProcess:
    """One process. Every line that it writes is put into ``inbox`` with the process, at its end an empty one."""

    def __init__(
        self,
        inbox: "queue.SimpleQueue[tuple[Any, bytes]]",
        program: str = PROGRAM,
        modules: Sequence[str] | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """``modules`` is its `sys.path` and ``environment`` its variables, of this process unless given."""
        self._inbox = inbox
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115 (as long as the process)
        with apart.deaf():  # a job must not die of Ctrl-C before it has saved
            self._process = subprocess.Popen(
                [sys.executable, "-c", program, *(sys.path if modules is None else modules)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._complaints,
                env=os.environ if environment is None else environment,
                creationflags=apart.GROUP,
            )
        threading.Thread(target=self._listen, daemon=True).start()

    def send(self, line: bytes) -> None:
        """Write a line to it; a process that has died reports that in its own way."""
        assert self._process.stdin
        with suppress(BrokenPipeError):
            self._process.stdin.write(line + b"\n")
            self._process.stdin.flush()

    def stop(self) -> None:
        """Ask for the end of its run after the step that it makes: not by a signal, Windows has none to send."""
        self.send(STOP)

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
        """How its process ended and what it wrote, in words; the last line is how it ended."""
        status = self._process.wait()
        self._complaints.seek(0)
        complaints = self._complaints.read().decode(errors="replace").strip()
        how = f"was killed ({signal.Signals(-status).name})" if status < 0 else f"ended with status {status}"
        return f"{complaints}\n{how}" if complaints else how

    def _listen(self) -> None:
        assert self._process.stdout
        with self._process.stdout as lines:
            for line in iter(lines.readline, b""):
                self._inbox.put((self, line))
        self._inbox.put((self, b""))
