"""What a person sees while a study runs: a line that moves on a terminal, a line per evaluation elsewhere."""

import time

from rich import progress as bars

from onechange.plan import Plan
from onechange.training import Moment
from onechange.verbs import output


class Progress:
    """Use it as a context; `watch` is told of every step, `say` of every remark."""

    def __init__(self, plan: Plan) -> None:
        self._many = len(plan.seeds) > 1
        self._runs = len(plan.seeds) * len(plan.arms)
        self._started: dict[tuple[str, int], int] = {}
        self._drawn = 0.0
        self._bars = bars.Progress(
            bars.TextColumn("[bold]{task.description}"),
            bars.BarColumn(bar_width=20),
            bars.TextColumn("{task.completed:,.0f}/{task.total:,.0f}"),
            bars.TextColumn("{task.fields[figures]}"),
            console=output.notes,
            disable=not output.notes.is_terminal,
        )
        self._task: bars.TaskID | None = None

    def __enter__(self) -> "Progress":
        self._bars.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._bars.stop()

    def say(self, note: str) -> None:
        """A remark, above the moving line."""
        self._bars.console.print(note, style="yellow", markup=False, soft_wrap=True)

    def watch(self, arm: str, seed: int, moment: Moment) -> None:
        """One step of one run."""
        key = (arm, seed)
        name = f"{arm}, seed {seed}" if self._many else arm
        if key not in self._started:
            self._started[key] = len(self._started) + 1
            if self._task is not None:
                self._bars.remove_task(self._task)
            self._task = self._bars.add_task(
                f"{self._started[key]}/{self._runs} {name}", total=moment.steps, figures=""
            )
        assert self._task is not None
        figures = (
            f"loss {moment.batch_loss:.3f}  {moment.tokens_per_second:,.0f} tokens/s  "
            f"{_clock(moment.seconds_left)} left"
        )
        now = time.monotonic()
        if now - self._drawn > 0.2 or moment.step == moment.steps:
            self._drawn = now
            self._bars.update(self._task, completed=moment.step, figures=figures)
        if moment.validation_nats_per_character is not None:
            self._bars.console.print(
                f"{name:<16} step {moment.step:>6,}  validation {moment.validation_nats_per_character:.4f} "
                f"nats/character  {figures}",
                markup=False,
                soft_wrap=True,
            )


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
