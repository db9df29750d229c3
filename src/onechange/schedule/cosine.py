"""A linear warm-up to the peak, then half a cosine down to a share of it.

Loshchilov and Hutter 2016, https://arxiv.org/abs/1608.03983, without restarts.
"""

import math
from typing import final

from onechange.schedule import Schedule


@final
class Cosine(Schedule):
    """``warmup`` steps rise from peak/warmup to the peak; the last step uses ``final`` times the peak."""

    def __init__(self, *, warmup: int = 100, final: float = 0.1) -> None:
        if warmup < 0:
            raise ValueError(f"schedule.warmup = {warmup}: must be at least 0 steps")
        if not 0 <= final <= 1:
            raise ValueError(f"schedule.final = {final}: must be in 0 to 1, a share of the peak rate")
        self.warmup = warmup
        self.final = final

    def share(self, step: int, steps: int) -> float:
        step = min(step, steps)
        if step < self.warmup:
            return step / self.warmup
        progress = (step - self.warmup) / max(1, steps - self.warmup)
        return self.final + (1 - self.final) * 0.5 * (1 + math.cos(math.pi * progress))
