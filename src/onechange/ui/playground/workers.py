"""Where models compute: a few threads beside the server's own, so many pieces of work at a time, and none for ever.

Work is an iterator, and each of its steps is short: a token, some windows. Steps of all works take turns in the
threads, so that none waits for another to end, and between two of them a work can be given up.
"""

import asyncio
import os
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

import torch

from onechange.ui.playground.limits import Limits

Given = ParamSpec("Given")
Made = TypeVar("Made")


class Busy(Exception):
    """As much work is going on as may be."""


class Closed(Exception):
    """The server is about to end."""


class Workers:
    """The threads of one playground."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self.at_work = 0
        """Pieces of work that have begun and are not over."""
        self._closed = False
        # A model is read apart from those that write: reading a large one takes longer than a step may.
        self._readers = _threads("playground-reads", 2)
        self._threads = _threads("playground", max(2, min(4, os.cpu_count() or 2)))

    def close(self) -> None:
        """Let every work end after its step, and none begin; may be called by whoever handles a signal."""
        self._closed = True

    @contextmanager
    def place(self) -> Iterator[None]:
        """A place for one piece of work; `Busy` if none is free, `Closed` where there will be none any more."""
        if self._closed:
            raise Closed
        if self.at_work >= self._limits.at_once:
            raise Busy
        self.at_work += 1
        try:
            yield
        finally:
            self.at_work -= 1

    async def read(self, make: Callable[Given, Made], *given: Given.args, **named: Given.kwargs) -> Made:
        """What ``make`` returns, which may take its time."""
        return await asyncio.wrap_future(self._readers.submit(make, *given, **named))

    async def once(self, make: Callable[Given, Made], *given: Given.args, **named: Given.kwargs) -> Made:
        """What ``make`` returns, which is quick."""
        return await asyncio.wrap_future(self._threads.submit(make, *given, **named))

    async def steps(self, work: Iterator[Made]) -> AsyncGenerator[Made, None]:
        """What ``work`` gives, step by step.

        A `TimeoutError` once it takes longer than the limits allow, `Closed` once there is to be an end.
        """
        latest = time.monotonic() + self._limits.seconds
        while (step := await self.once(_next, work)) is not None:
            yield step[0]
            if self._closed:
                raise Closed
            if time.monotonic() > latest:
                raise TimeoutError


def _next(work: Iterator[Made]) -> tuple[Made] | None:
    """The next step; ``None`` after the last, since a `StopIteration` cannot leave a thread."""
    for step in work:
        return (step,)
    return None


def _threads(name: str, number: int) -> ThreadPoolExecutor:
    """Each computes by itself: the others have work of their own."""
    return ThreadPoolExecutor(number, name, initializer=torch.set_num_threads, initargs=(1,))
