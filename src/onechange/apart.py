"""Processes that do not hear Ctrl-C: in a terminal it reaches all, and some must first finish what they do."""

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any


def session() -> Mapping[str, Any]:
    """Arguments with which `subprocess` starts a process that has a session of its own."""
    return _windows_group() or {"start_new_session": True}


@contextmanager
def deaf() -> Iterator[Mapping[str, Any]]:
    """Arguments for a process that is started within the context and stays in this session, for Ctrl-Z.

    A blocked signal is inherited.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield _windows_group()
        return
    unblocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield {}
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, unblocked)


def give_way(niceness: int) -> None:
    """Let all other processes of the machine come first, where that can be said."""
    if hasattr(os, "nice"):
        os.nice(niceness)


def _windows_group() -> Mapping[str, Any]:
    """On Windows, a group of processes is what Ctrl-C reaches."""
    flag = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", None)
    return {} if flag is None else {"creationflags": flag}
