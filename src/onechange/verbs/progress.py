"""What a person sees while a study runs: a moving line per run on a terminal, a line per evaluation elsewhere."""

import time
from collections.abc import Sequence
from typing import Any

from rich import progress as bars
from rich.console import Console, RenderableType
from rich.table import Column

from onechange.estimate import side_by_side
from onechange.plan import Run
from onechange.training import Moment
from onechange.verbs import output

SECONDS_BETWEEN_DRAWINGS = 0.2
WIDE = 100
"""Columns of a terminal from which on a line has room for the speed and a long bar."""


class Progress:
    """Use it as a context; `watch` is told of steps, `ended` of a run's end, `say` of every remark."""

    def __init__(
        self,
        runs: Sequence[Run],
        waiting: Sequence[Run],
        jobs: int = 1,
        console: Console | None = None,
    ) -> None:
        """``runs`` are all of the study's, ``waiting`` those that are not finished, ``jobs`` go side by side."""
        self._console = console or output.notes
        self._name_seeds = len({seed for _, seed in runs}) > 1
        self._runs = len(runs)
        self._arms = [arm for arm, _ in runs]
        self._waiting = list(waiting)
        self._jobs = jobs
        self._moments: dict[Run, Moment] = {}
        self._tasks: dict[Run, bars.TaskID] = {}
        self._drawn: dict[Run, float] = {}
        self._steps: dict[str, int] = {}
        self._seconds_per_step: dict[str, float] = {}
        self._wide = self._console.width >= WIDE
        figures = 76 if self._wide else 42  # columns, with the bar
        name = Column(no_wrap=True, overflow="ellipsis", max_width=max(8, self._console.width - figures))
        self._bars = bars.Progress(
            bars.TextColumn("[bold]{task.description}", table_column=name),
            bars.BarColumn(bar_width=20 if self._wide else 6),
            bars.TextColumn("{task.completed:,.0f}/{task.total:,.0f}", table_column=Column(no_wrap=True)),
            bars.TextColumn("{task.fields[figures]}", table_column=Column(no_wrap=True)),
            console=self._console,
            disable=not self._console.is_terminal,
        )
        self._overall: bars.TaskID | None = None

    def __enter__(self) -> "Progress":
        self._bars.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._bars.stop()

    def say(self, note: str) -> None:
        """A remark, above the moving lines."""
        self._console.print(note, style="yellow", markup=False, soft_wrap=True)

    def watch(self, arm: str, seed: int, moment: Moment) -> None:
        """A step of one run."""
        run = (arm, seed)
        self._moments[run] = moment
        self._steps[arm] = moment.steps
        if moment.step < moment.steps:
            self._seconds_per_step[arm] = moment.seconds_left / (moment.steps - moment.step)
        if run in self._waiting:
            self._waiting.remove(run)
            self._tasks[run] = self._bars.add_task(self._name(run), total=moment.steps, figures="")
            self._put_overall_last()
        evaluated = moment.validation_nats_per_character is not None
        now = time.monotonic()
        if evaluated or now - self._drawn.get(run, 0.0) > SECONDS_BETWEEN_DRAWINGS:
            self._drawn[run] = now
            self._draw(run)
        if evaluated:
            self._console.print(
                f"{self._name(run):<16} step {moment.step:>6,}  "
                f"validation {moment.validation_nats_per_character:.4f} nats/character"
                + (f"  {_figures(moment, True)}" if self._wide or not self._console.is_terminal else ""),
                markup=False,
                soft_wrap=True,
            )

    def ended(self, arm: str, seed: int) -> None:
        """A run is finished, or has failed."""
        run = (arm, seed)
        if run in self._waiting:  # it needed no step any more, or died of its first
            self._waiting.remove(run)
        self._moments.pop(run, None)
        if run in self._tasks:
            self._bars.remove_task(self._tasks.pop(run))
        if self._overall is not None:
            self._bars.update(self._overall, **self._standing())
        if self._runs > 1 and not self._console.is_terminal:
            left = self._left()
            self._console.print(
                f"{self._name(run):<16} ended; {self._standing()['description']}"
                + (f", {left}" if left else ""),
                markup=False,
                soft_wrap=True,
            )

    def lines(self) -> RenderableType:
        """The moving lines as they are now."""
        return self._bars.get_renderable()

    def _steps_of(self, arm: str) -> int:
        """How many steps a run of ``arm`` has, or is thought to have before one has begun."""
        return self._steps.get(arm, max(self._steps.values(), default=1))

    def _name(self, run: Run) -> str:
        return f"{run[0]}, seed {run[1]}" if self._name_seeds else run[0]

    def _draw(self, run: Run) -> None:
        moment = self._moments[run]
        figures = _figures(moment, self._wide) if moment.step < moment.steps else "measuring, sampling"
        self._bars.update(self._tasks[run], completed=moment.step, figures=figures)
        if self._overall is not None:
            self._bars.update(self._overall, **self._standing())

    def _put_overall_last(self) -> None:
        if self._runs == 1:
            return
        if self._overall is not None:
            self._bars.remove_task(self._overall)
        self._overall = self._bars.add_task("", total=None, figures="")
        self._bars.update(self._overall, **self._standing())

    def _standing(self) -> dict[str, Any]:
        """The line of the whole study: its runs, how much of them is done, the time left."""
        done = self._runs - len(self._waiting) - len(self._moments)
        total = sum(map(self._steps_of, self._arms))
        begun = sum(moment.steps - moment.step for moment in self._moments.values())
        return {
            "description": f"{done} of {self._runs} runs",
            "total": total,
            "completed": total - begun - sum(self._steps_of(arm) for arm, _ in self._waiting),
            "figures": self._left(),
        }

    def _left(self) -> str:
        """About how long it will take until the last run ends, by the speed seen of its arm or else of the others."""
        known = self._seconds_per_step
        if not known:
            return ""
        mean = sum(known.values()) / len(known)
        running = [moment.seconds_left for moment in self._moments.values()]
        waiting = [self._steps_of(arm) * known.get(arm, mean) for arm, _ in self._waiting]
        seconds = side_by_side([*running, *waiting], self._jobs)
        return f"about {_clock(seconds)} left" if running or waiting else ""


def _figures(moment: Moment, wide: bool) -> str:
    speed = f"{moment.tokens_per_second:,.0f} tokens/s  " if wide else ""
    return f"loss {moment.batch_loss:.3f}  {speed}{_clock(moment.seconds_left)} left"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
