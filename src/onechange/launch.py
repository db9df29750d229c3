"""Bringing the processes of a run together: started here, or by torchrun on one machine or several."""

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import timedelta

from torch.distributed import PrefixStore, TCPStore  # type: ignore[reportPrivateImportUsage]  # torch documents these names, and marks them as private

from onechange import apart
from onechange.processes import ALONE, Group, Lost, patience

MOST_PROCESSES = 1024
_CHILD = "ONECHANGE_CHILD"
_SECONDS_TO_END = 5.0


def asked(processes: int | None) -> int:
    """How many processes a run is to have, as the command or torchrun says; a `ValueError` if they disagree."""
    if processes is not None and not 1 <= processes <= MOST_PROCESSES:
        raise ValueError(f"--processes {processes}: must be from 1 to {MOST_PROCESSES}")
    if "RANK" not in os.environ:
        return processes or 1
    size = _number("WORLD_SIZE", 1)
    if processes not in (None, size) and _CHILD not in os.environ:
        raise ValueError(f"--processes {processes}: torchrun has started {size}; leave one of the two out")
    return size


def check_rows(processes: int, batches: Mapping[str, int]) -> None:
    """A `ValueError` names the arm whose batch has fewer rows than there are processes."""
    for arm, rows in batches.items():
        if rows < processes:
            raise ValueError(
                f"{processes} processes: arm {arm!r} has batch = {rows}, and each process needs a row at least"
            )


def was_restarted() -> bool:
    """Whether torchrun has started this command before and starts it again, after a process was lost."""
    return _number("TORCHELASTIC_RESTART_COUNT", 0) > 0


@contextmanager
def gathered(processes: int | None) -> Iterator[Group]:
    """The group that a run is to have: of the processes that were started with this one, or of new ones.

    Within the first process the others have their end when this context does, however it does.
    """
    size = asked(processes)
    if size == 1:
        yield ALONE
    elif "RANK" in os.environ:
        with _by_environment(size) as group:
            yield group
    else:
        with _with_children(size) as group:
            yield group


@contextmanager
def _by_environment(size: int) -> Iterator[Group]:
    """torchrun's variables say who this process is."""
    rank = _number("RANK", 0)
    if _CHILD in os.environ:
        threading.Thread(target=_end_with_parent, daemon=True).start()
    # torchrun keeps a store of its own at this address; whoever sets the variables by hand has none.
    hosts = rank == 0 and os.environ.get("TORCHELASTIC_USE_AGENT_STORE") != "True"
    store = PrefixStore(
        f"onechange-{_number('TORCHELASTIC_RESTART_COUNT', 0)}",
        _store(os.environ.get("MASTER_ADDR", "127.0.0.1"), _number("MASTER_PORT", 29500), hosts),
    )
    local_rank, local_size = _number("LOCAL_RANK", rank), _number("LOCAL_WORLD_SIZE", size)
    with Group(rank, size, local_rank=local_rank, local_size=local_size, store=store) as group:
        try:
            yield group
        except Lost:
            raise
        except BaseException:
            group.dismiss()
            raise
        _say_farewell(group)


@contextmanager
def _with_children(size: int) -> Iterator[Group]:
    """This process is the first; it starts the others, with its own command line, on this machine."""
    _loopback_only(os.environ)
    store = _store("127.0.0.1", 0, True)
    children = [_child(rank, size, store.port) for rank in range(1, size)]

    def watch() -> None:
        for rank, child in enumerate(children, start=1):
            if child.poll() is not None:
                raise Lost(f"process {rank + 1} of {size} ended (exit status {child.returncode})")

    first = PrefixStore("onechange-0", store)
    try:
        with Group(0, size, local_size=size, store=first, watch=watch) as group:
            yield group
            _say_farewell(group)
            for child in children:
                child.wait(_SECONDS_TO_END)
    except subprocess.TimeoutExpired:
        pass
    finally:
        for child in children:
            child.kill()
            assert child.stdin is not None
            child.stdin.close()
            child.wait()


def _say_farewell(group: Group) -> None:
    with suppress(Lost):  # all is done: who is gone by now is not missed
        if group.rank == 0:
            group.order(None)
        group.part_in_peace()


def _child(rank: int, size: int, port: int) -> "subprocess.Popen[bytes]":
    """A process that ends with this one: the end of its standard input tells it so. It shares no Ctrl-C with it."""
    environment = {
        **os.environ,
        "RANK": str(rank),
        "WORLD_SIZE": str(size),
        "LOCAL_RANK": str(rank),
        "LOCAL_WORLD_SIZE": str(size),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        _CHILD: "1",
    }
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "onechange", *sys.argv[1:]],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
        creationflags=apart.GROUP,
    )


def _end_with_parent() -> None:
    while os.read(0, 4096):
        pass
    os._exit(1)


def _store(address: str, port: int, hosts: bool) -> TCPStore:
    try:
        return TCPStore(
            address,
            port,
            is_master=hosts,
            wait_for_workers=False,
            timeout=timedelta(seconds=patience()),
        )
    except RuntimeError as error:
        what = "hold" if hosts else "reach"
        raise ConnectionError(
            f"{address}, port {port}: cannot {what} the place where processes meet"
        ) from error


def _loopback_only(environment: "os._Environ[str]") -> None:
    """Processes of one machine need not be reached from others; its name need not be known to any resolver."""
    names = [name for _, name in socket.if_nameindex() if name in ("lo", "lo0")]
    if names:
        environment.setdefault("GLOO_SOCKET_IFNAME", names[0])


def _number(variable: str, usual: int) -> int:
    word = os.environ.get(variable, str(usual))
    if not word.isdecimal():
        raise ValueError(f"{variable} = {word!r}: must be a whole number")
    return int(word)
