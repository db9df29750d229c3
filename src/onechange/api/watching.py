"""What is seen of a study that runs: in a notebook one output that is brought up to date, elsewhere lines."""

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from html import escape
from typing import Any

from onechange.estimate import side_by_side
from onechange.laboratory import Watcher
from onechange.plan import Run
from onechange.training import Moment
from onechange.verbs import output
from onechange.verbs.progress import Progress

SECONDS_BETWEEN_DRAWINGS = 1.0


class Silent:
    """Watches, and says nothing."""

    def watch(self, arm: str, seed: int, moment: Moment) -> None: ...

    def ended(self, arm: str, seed: int) -> None: ...

    def say(self, note: str) -> None: ...


class Shown:
    """A table of the runs in a notebook; ``display`` puts HTML in its place."""

    def __init__(self, runs: Sequence[Run], unfinished: Sequence[Run], jobs: int, display: Any) -> None:
        self._runs, self._jobs, self._display = list(runs), jobs, display
        self._done = set(runs) - set(unfinished)
        self._trains = bool(unfinished)
        self._moments: dict[Run, Moment] = {}
        self._notes: list[str] = []
        self._drawn = -SECONDS_BETWEEN_DRAWINGS
        self._began = time.monotonic()

    def watch(self, arm: str, seed: int, moment: Moment) -> None:
        self._moments[arm, seed] = moment
        if time.monotonic() - self._drawn > SECONDS_BETWEEN_DRAWINGS:
            self.draw()

    def ended(self, arm: str, seed: int) -> None:
        self._done.add((arm, seed))
        self.draw()

    def say(self, note: str) -> None:
        self._notes.append(note)
        self.draw()

    def draw(self) -> None:
        """Show how all stands now."""
        self._drawn = time.monotonic()
        self._display(self.html())

    def html(self) -> str:
        """A line for every run that trains, and one for all."""
        lines = [self._line(run, self._moments[run]) for run in self._moments if run not in self._done]
        notes = "".join(f'<div style="opacity:.7">{escape(note)}</div>' for note in self._notes)
        return f"<div>{notes}{''.join(lines)}<div>{self._summary()}</div></div>"

    def _line(self, run: Run, moment: Moment) -> str:
        arm, seed = run
        figures = f"step {moment.step:,} of {moment.steps:,}, loss {moment.batch_loss:.3f}"
        bar = f'<progress value="{moment.step}" max="{moment.steps}"></progress>'
        return f"<div>{bar} {escape(arm)}, seed {seed}: {figures}</div>"

    def _summary(self) -> str:
        done, every = len(self._done), len(self._runs)
        if done == every:
            took = _clock(time.monotonic() - self._began) if self._trains else "nothing was left to train"
            return f"{every} of {every} runs finished, {took}"
        left = self._left()
        return f"{done} of {every} runs finished" + (f", about {_clock(left)} left" if left else "")

    def _left(self) -> float:
        """Seconds, by the time that the runs seen so far take for all of their steps; 0 before one is seen."""
        whole = [
            moment.seconds_left * moment.steps / (moment.steps - moment.step)
            for moment in self._moments.values()
            if moment.step < moment.steps
        ]
        if not whole:
            return 0.0
        mean = sum(whole) / len(whole)
        running = [moment.seconds_left for run, moment in self._moments.items() if run not in self._done]
        waiting = len(self._runs) - len(self._done) - len(running)
        return side_by_side([*running, *[mean] * waiting], self._jobs)


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02} min"


@contextmanager
def silent(runs: Sequence[Run], unfinished: Sequence[Run], jobs: int) -> Iterator[Watcher]:
    """Nothing is shown."""
    yield Silent()


@contextmanager
def shown(runs: Sequence[Run], unfinished: Sequence[Run], jobs: int) -> Iterator[Watcher]:
    """Where Python shows rich output one that changes in its place, else lines on standard error."""
    display = _display()
    if display is None:
        with Progress(runs, unfinished, jobs) as progress:
            yield progress
        return
    watcher = Shown(runs, unfinished, jobs, display)
    watcher.draw()
    yield watcher
    watcher.draw()


def say(note: str) -> None:
    """A remark: in a notebook as text of its own, elsewhere on standard error."""
    if in_notebook():
        print(note)
    else:
        output.say(note)


def in_notebook() -> bool:
    """Whether a Jupyter kernel runs this: IPython in a terminal shows no HTML."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return hasattr(shell, "kernel")


def _display() -> Any:
    if not in_notebook():
        return None
    from IPython.display import HTML, display

    handle = display(HTML(""), display_id=True)
    assert handle is not None, "asked for with an id"

    def put(html: str) -> None:
        handle.update(HTML(html))

    return put
