"""Ctrl-C and SIGTERM while a run trains: the step is finished and saved, then the run stops.

Python runs signal handlers in the main thread alone; in any other thread nothing is installed and signals do what
they did before.
"""

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)
ECHO = 2.0
_TOLD = b"\nonechange: stops after this step, which is saved; once more stops at once\n"


class Stopped(Exception):
    """A run that was asked to stop, by ``signal``, and did so; ``step`` is the last one saved."""

    def __init__(self, asked: int, step: int, steps: int) -> None:
        super().__init__(f"stopped; step {step:,} of {steps:,} is saved")
        self.signal, self.step, self.steps = asked, step, steps

    def __reduce__(self) -> tuple[type, tuple[int, int, int]]:  # it may come from another process
        return type(self), (self.signal, self.step, self.steps)


class Request:
    """Whether anyone has asked to stop. ``signal``: the signal's number, ``None`` while nobody has."""

    signal: int | None = None


@contextmanager
def deferred() -> Iterator[Request]:
    """Note the first of `SIGNALS` instead of obeying it; a second one does what it did before.

    A SIGTERM that follows another within `ECHO` seconds is the same request: `timeout` and service managers send it to
    a process and to its group, and a study passes it on to its jobs.
    """
    request = Request()
    if threading.current_thread() is not threading.main_thread():
        yield request
        return
    before = {number: signal.getsignal(number) for number in SIGNALS}

    def put_back() -> None:
        for number, handler in before.items():
            if handler is not None:  # a handler that Python did not install cannot be put back
                signal.signal(number, handler)

    noted = 0.0

    def note(number: int, frame: FrameType | None) -> None:
        nonlocal noted
        if request.signal is not None:  # only SIGTERM comes here twice
            if time.monotonic() - noted > ECHO:
                put_back()
                signal.raise_signal(number)
            return
        request.signal, noted = number, time.monotonic()
        put_back()
        if number == signal.SIGTERM:
            signal.signal(number, note)
        if sys.stderr is not None and sys.stderr.isatty():
            os.write(sys.stderr.fileno(), _TOLD)  # print is not safe here: the signal may have come amid one

    for number, handler in before.items():
        if handler not in (signal.SIG_IGN, None):  # `nohup` and shells that ignore a signal mean it
            signal.signal(number, note)
    try:
        yield request
    finally:
        put_back()
