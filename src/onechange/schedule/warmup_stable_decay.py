"""A linear warm-up to the peak, which stays until the rate comes down over a last share of the run.

In the decay p goes from 0 to 1 and share = final + (1 − final) · (1 − p), or with 1 − sqrt(p) for the last factor. Hu
et al. 2024 (MiniCPM), https://arxiv.org/abs/2404.06395; Hägele et al. 2024, https://arxiv.org/abs/2405.18392, who find
the root better than the straight line
"""

from typing import Literal, final

from onechange.schedule import Schedule


@final
class WarmupStableDecay(Schedule):
    """``warmup`` steps rise from peak/warmup to the peak; the last ``decay`` of all steps fall to ``final`` times it.

    Where the two overlap, the warm-up is done first and the decay has what is left. ``shape`` is that of the decay.
    """

    def __init__(
        self,
        *,
        warmup: int = 100,
        decay: float = 0.2,
        final: float = 0.0,
        shape: Literal["linear", "1-sqrt"] = "1-sqrt",
    ) -> None:
        if warmup < 0:
            raise ValueError(f"schedule.warmup = {warmup}: must be at least 0 steps")
        for key, value, of in (("decay", decay, "the run's steps"), ("final", final, "the peak rate")):
            if not 0 <= value <= 1:
                raise ValueError(f"schedule.{key} = {value}: must be in 0 to 1, a share of {of}")
        self.warmup = warmup
        self.decay = decay
        self.final = final
        self.shape = shape

    def share(self, step: int, steps: int) -> float:
        step = min(step, steps)
        if step < self.warmup:
            return step / self.warmup
        first = max(self.warmup, steps - round(self.decay * steps))
        if step <= first:
            return 1.0
        progress = (step - first) / (steps - first)
        if self.shape == "1-sqrt":
            progress = progress**0.5
        return self.final + (1 - self.final) * (1 - progress)
