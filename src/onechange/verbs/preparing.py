"""What a person sees while a large text is read and encoded: a bar on a terminal, a line now and then elsewhere."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich import progress as bars

from onechange.verbs import output

PATIENCE = 2.0
"""Seconds that a piece of work may take before anything is shown of it."""
BETWEEN_LINES = 30.0


class _Shown:
    """The piece of work that is going on."""

    def __init__(self) -> None:
        self._what: str | None = None
        self._started = self._told = 0.0
        self._bar: bars.Progress | None = None
        self._task = bars.TaskID(0)

    def watch(self, done: int, total: int | None, what: str) -> None:
        now = time.monotonic()
        if what != self._what:
            self.stop()
            self._what, self._started, self._told = what, now, now + PATIENCE - BETWEEN_LINES
        if done == total:
            self.stop()
        elif output.notes.is_terminal and now - self._started > PATIENCE:
            self._draw(done, total, what)
        elif not output.notes.is_terminal and now - self._told > BETWEEN_LINES:
            self._told = now
            of = f" of {total / 1e6:,.0f}" if total else ""
            output.notes.print(f"{what}: {done / 1e6:,.0f}{of} MB", markup=False)

    def _draw(self, done: int, total: int | None, what: str) -> None:
        if self._bar is None:
            self._bar = bars.Progress(
                bars.TextColumn("[bold]{task.description}"),
                bars.BarColumn(bar_width=20),
                bars.DownloadColumn(),
                bars.TransferSpeedColumn(),
                bars.TimeRemainingColumn(),
                console=output.notes,
                transient=True,
            )
            self._task = self._bar.add_task(what, total=total)
            self._bar.start()
        self._bar.update(self._task, completed=done, total=total)

    def stop(self) -> None:
        if self._bar is not None:
            self._bar.stop()
        self._bar = self._what = None


_shown = _Shown()


def watch(done: int, total: int | None, what: str) -> None:
    """An `onechange.watching.Watch`; a verb that hands it out is marked with `shown`."""
    _shown.watch(done, total, what)


@contextmanager
def shown() -> Iterator[None]:
    """Whatever way the verb ends, no bar is left on the screen."""
    try:
        yield
    finally:
        _shown.stop()
