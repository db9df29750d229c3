"""One function over many things on all cores, in processes of their own; what comes back is in the things' order."""

import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context, parent_process
from typing import Any, TypeVar

from onechange import processor

Thing = TypeVar("Thing")
Result = TypeVar("Result")

_work: Callable[[Any], Any]


def ordered(
    setup: Callable[..., Callable[[Thing], Result]],
    given: tuple[Any, ...],
    things: Sequence[Thing],
    processes: int | None = None,
) -> Generator[Result]:
    """``setup(*given)``, called once in each process, over ``things``, few of them waiting at any time.

    ``processes``: all processors that this process may use, unless told otherwise; with one, or with one thing, the
    work is done here. An interrupt ends the processes; they end by themselves when this process is killed.
    """
    count = min(processes or processor.threads(0), len(things))
    if count <= 1:
        yield from map(setup(*given), things)
        return
    # Spawned: a fork of a process with threads, and torch has some, may hang.
    pool = ProcessPoolExecutor(count, get_context("spawn"), initializer=_begin, initargs=(setup, given))
    waiting: deque[Future[Result]] = deque()
    try:
        for thing in things:
            waiting.append(pool.submit(_do, thing))
            if len(waiting) > 2 * count:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except BrokenProcessPool:
        raise ChildProcessError(
            "a process that worked on the text was ended from outside, perhaps for want of memory; try again"
        ) from None
    finally:
        pool.shutdown(cancel_futures=True)


def _begin(setup: Callable[..., Callable[[Any], Any]], given: tuple[Any, ...]) -> None:
    global _work
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent is interrupted too, and ends the pool
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _work = setup(*given)


def _end_with_parent() -> None:
    """A pool's processes wait for work for ever if their parent is killed: they hold both ends of its pipe."""
    parent = parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _do(thing: Any) -> Any:
    return _work(thing)
