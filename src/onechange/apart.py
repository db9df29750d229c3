"""Processes that do not hear Ctrl-C: in a terminal it reaches all, and some must first finish what they do."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

GROUP: int = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
"""The ``creationflags`` of a process that Windows shall not send Ctrl-C; ``start_new_session`` does nothing there."""


@contextmanager
def deaf() -> Iterator[None]:
    """What is started within hears no Ctrl-C, but Ctrl-Z still: it inherits which signals are blocked.

    On Windows `GROUP` must say so.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    unblocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, unblocked)


def give_way(niceness: int) -> None:
    """Let all other processes of the machine come first, where that can be said."""
    if hasattr(os, "nice"):
        os.nice(niceness)
