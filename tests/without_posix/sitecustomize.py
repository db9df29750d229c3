"""Makes this Python look to onechange as one of Windows does, in this process and in all that it starts.

onechange cannot import modules that only POSIX systems have, and finds none of the names of `os` and `signal` that
Windows lacks; it is told that the system is Windows. Python and other libraries, built for this system, find what they
need.
`msvcrt` is played by `fcntl`. What is not played: paths with drives, files that cannot be replaced while they are open.
"""

import builtins
import errno
import fcntl
import os
import signal
import subprocess
import sys
import types
from collections.abc import Mapping
from typing import Any

MODULES = {"fcntl", "resource", "termios", "tty", "pty", "pwd", "grp", "readline", "curses", "syslog"}
OS = (
    "fork", "forkpty", "killpg", "getpgid", "getpgrp", "setsid", "nice", "sysconf", "getuid", "geteuid", "uname",
    "sched_getaffinity", "chown", "mkfifo", "wait3", "wait4", "statvfs", "getloadavg", "fchown", "initgroups",
    "O_NOFOLLOW", "O_DIRECTORY", "O_NONBLOCK", "O_CLOEXEC", "posix_fadvise", "pread", "pwrite", "confstr",
)  # fmt: skip
SIGNAL = (
    "SIGKILL", "SIGHUP", "SIGALRM", "SIGUSR1", "SIGUSR2", "SIGCHLD", "SIGQUIT", "SIGSTOP", "SIGTSTP", "SIGCONT",
    "alarm", "setitimer", "pthread_sigmask", "SIG_BLOCK", "SIG_SETMASK", "SIG_UNBLOCK", "sigwait", "pthread_kill",
)  # fmt: skip


def _asked_by_onechange() -> bool:
    """Whether the code that uses the name two calls further up is onechange's."""
    return sys._getframe(2).f_globals.get("__name__", "").partition(".")[0] == "onechange"


def _hide(module: types.ModuleType, absent: tuple[str, ...], others: Mapping[str, str] = {}) -> None:
    """Take the names ``absent`` from onechange; those of ``others`` have these values for it."""
    kept = {name: vars(module).pop(name) for name in (*absent, *others) if name in vars(module)}

    def found(name: str) -> Any:
        ours = _asked_by_onechange()
        if ours and name in others:
            return others[name]
        if ours or name not in kept:
            raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
        return kept[name]

    vars(module)["__getattr__"] = found


def _locking(handle: int, mode: int, size: int) -> None:
    """What `msvcrt` does with one byte; none waits."""
    assert size == 1
    try:
        fcntl.flock(handle, fcntl.LOCK_UN if mode == 0 else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise PermissionError(errno.EACCES, "Permission denied") from None


def _imported(name: str, *rest: Any, **named: Any) -> Any:
    if _asked_by_onechange():
        if name.partition(".")[0] in MODULES:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        if name == "msvcrt":
            return msvcrt
    return _import(name, *rest, **named)


def _end(process: "subprocess.Popen[Any]") -> None:
    """The only way that Windows has to end another process."""
    if process.poll() is None:
        os.kill(process.pid, 9)


msvcrt: Any = types.ModuleType("msvcrt")
msvcrt.locking, msvcrt.LK_NBLCK, msvcrt.LK_UNLCK = _locking, 2, 0
for name in ("kill", "terminate"):
    setattr(subprocess.Popen, name, _end)
_import = builtins.__import__
builtins.__import__ = _imported
_hide(os, OS, {"name": "nt"})
_hide(signal, SIGNAL)
_hide(sys, (), {"platform": "win32"})
