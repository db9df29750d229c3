"""A linear warm-up to the peak, which then stays.

share = min(1, step / warmup). What it costs not to come down: Hägele et al. 2024, https://arxiv.org/abs/2405.18392
"""

from typing import final

from onechange.schedule import Schedule


@final
class Constant(Schedule):
    """``warmup`` steps rise from peak/warmup to the peak; all others use the peak."""

    def __init__(self, *, warmup: int = 100) -> None:
        if warmup < 0:
            raise ValueError(f"schedule.warmup = {warmup}: must be at least 0 steps")
        self.warmup = warmup

    def share(self, step: int, steps: int) -> float:
        step = min(step, steps)
        return step / self.warmup if step < self.warmup else 1.0
