"""A connection to a Ray cluster, or a cluster of this machine alone: quiet, and gone without a trace afterwards."""

import logging
import os
import secrets
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import ModuleType
from typing import Any

from onechange import processor, scratch

LOCAL = "local"
PREFIX = "onechange-ray-"
SECONDS_TO_ANSWER = 15.0
"""For a cluster that is there: about two, most of which Python needs to begin."""
OBJECTS = 200_000_000
"""Bytes that a local cluster keeps for what travels: a few pieces of files at a time."""


@contextmanager
def connected(address: str, processors: int) -> Iterator[ModuleType]:
    """Ray, connected to the cluster at ``address``; ``local`` starts one of this machine, with so many ``processors``.

    A `ValueError` or `ConnectionError` says in one line why that cannot be.
    """
    ray = _imported()
    settings: dict[str, Any] = {"address": address}
    variables: dict[str, str] = {}
    with ExitStack() as stack:
        if address == LOCAL:
            # A path of a socket may have about 100 characters: the usual folder may be too deep.
            short = Path("/tmp") if Path("/tmp").is_dir() else None
            folder = str(stack.enter_context(scratch.folder(PREFIX, short)))
            settings |= {"num_cpus": max(processors, processor.threads(0)), "include_dashboard": False}
            settings |= {"_temp_dir": folder, "object_store_memory": OBJECTS}
            # The workers import what is imported here; the token is this cluster's alone, Ray would keep one at home.
            variables = {"PYTHONPATH": os.pathsep.join(sys.path), "RAY_AUTH_TOKEN": secrets.token_hex(32)}
        elif address != "auto":
            _must_answer(address)
        stack.enter_context(_variables(variables))
        with _own_signals():
            try:
                ray.init(**settings, log_to_driver=False, logging_level=logging.CRITICAL)
            except (ConnectionError, RuntimeError, ValueError, OSError) as error:
                raise ConnectionError(f"--cluster {address}: {_first_line(error)}") from None
        stack.callback(ray.shutdown)
        yield ray


@contextmanager
def _variables(values: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def _own_signals() -> Iterator[None]:
    """Ray takes SIGTERM for itself."""
    numbers = (signal.SIGINT, signal.SIGTERM)
    handlers = {number: signal.getsignal(number) for number in numbers}
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            for number, handler in handlers.items():
                signal.signal(number, handler)


def _imported() -> ModuleType:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
    except ImportError:
        raise ValueError(
            "--cluster needs Ray, which is not installed: pip install 'onechange[ray]'"
        ) from None
    return ray


def _must_answer(address: str) -> None:
    """Ask in a process of its own: in this one Ray would try for a minute, and say so at length."""
    host, _, port = address.rpartition(":")
    if not host or "/" in host or not port.isdecimal() or int(port) > 65535:
        raise ValueError(f"--cluster {address!r}: must be local, auto, or HOST:PORT of a running Ray cluster")
    why = f"nothing in {SECONDS_TO_ANSWER:.0f} seconds"
    with suppress(subprocess.TimeoutExpired):
        try:
            socket.create_connection((host.strip("[]"), int(port)), SECONDS_TO_ANSWER).close()
        except OSError as error:
            raise _nobody(address, error.strerror or str(error)) from None
        asked = subprocess.run(
            [sys.executable, "-m", "ray.scripts.scripts", "health-check", "--address", address],
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=SECONDS_TO_ANSWER,
        )
        if asked.returncode == 0:
            return
        why = (asked.stderr.strip().splitlines() or ["it is not healthy"])[-1].rpartition("Error: ")[2]
    raise _nobody(address, why)


def _nobody(address: str, why: str) -> ConnectionError:
    return ConnectionError(f"--cluster {address}: no Ray cluster answers there ({why})")


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0].strip() if lines else type(error).__name__
