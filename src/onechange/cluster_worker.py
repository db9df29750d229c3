"""A worker of a cluster as the study sees it: what it is given, what it tells, and what it saves brought home."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec

from onechange import replica, run_lock
from onechange.hand import Introduction
from onechange.orders import Order
from onechange.replica import Mark

PATIENCE = 0.5
"""Seconds that a worker waits for something to tell before it says that there is nothing."""


class Lost(Exception):
    """A worker, or the process in which it trained, is gone."""


class Worker:
    """One worker as the study sees it, from the wish for it on."""

    def __init__(self, ray: ModuleType, make: Callable[[], Any]) -> None:
        self._ray, self._make = ray, make
        self.order: Order | None = None
        self.introduction: Introduction | None = None
        self.looked = 0.0
        self._held: dict[str, Mark] = {}
        self._lock = ExitStack()
        self.start()

    def start(self) -> None:
        """Ask for a worker process; `answer` is its introduction once it is there."""
        self.introduction = None
        self._hand = self._make()
        self.answer = self._hand.introduce.remote()

    def ask(self) -> None:
        """Ask for news; they will be the `answer`."""
        self.answer = self._hand.news.remote(PATIENCE)

    def result(self, answer: Any) -> Any:
        """What it answers; `Lost` if it is gone."""
        try:
            return self._ray.get(answer)
        except self._ray.exceptions.RayTaskError as error:
            cause = error.cause
            raise cause if isinstance(cause, ValueError | LookupError | OSError) else error from None
        except self._ray.exceptions.RayError as error:
            raise Lost(f"is gone ({type(error).__name__})") from None

    def give(self, order: Order) -> None:
        """Lock the run's folder, send what is in it and let the worker begin."""
        run = Path(order.run)
        self._lock.enter_context(run_lock.locked(run))
        for name in replica.names(run):
            self._send(name, b"")  # an empty file is a file too
            for piece in replica.pieces(run / name):
                self._send(name, piece)
        self._held = self.result(self._hand.begin.remote(msgspec.json.encode(order)))
        self.ask()
        self.order = order
        self.looked = time.monotonic()

    def bring(self) -> None:
        """Bring home what is new in the run's folder."""
        assert self.order
        photo = self.result(self._hand.look.remote())
        replica.bring(photo, self._held, self._read, Path(self.order.run))
        self._held, self.looked = photo, time.monotonic()

    def let_go(self) -> None:
        """The run is no longer this worker's."""
        self.order = None
        self._lock.close()
        self._held = {}

    def clear(self) -> None:
        """Be ready for the next order; `Lost` if it is gone."""
        self.result(self._hand.clear.remote())

    def stop(self) -> None:
        """Ask it to stop its run after the step that it makes."""
        self._hand.stop.remote()

    def close(self) -> Any:
        """Ask it to leave nothing behind; returns what can be waited for."""
        return self._hand.close.remote()

    def kill(self) -> None:
        """End its process."""
        self._ray.kill(self._hand)

    def _send(self, name: str, piece: bytes) -> None:
        self.result(self._hand.write.remote(name, piece))

    def _read(self, name: str) -> Iterator[bytes]:
        start = 0
        while piece := self.result(self._hand.read.remote(name, start)):
            yield piece
            start += len(piece)
