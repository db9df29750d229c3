"""Made-up studies whose truth is known: runs with noise over seeds and over stories, of several kinds."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from onechange.compare import Scores

Noise = Callable[[np.random.Generator, int], np.ndarray]
"""Draws for so many runs, of mean zero."""


def normal(rng: np.random.Generator, runs: int) -> np.ndarray:
    """Standard normal."""
    return rng.normal(size=runs)


def heavy_tailed(rng: np.random.Generator, runs: int) -> np.ndarray:
    """Student's t with 3 degrees of freedom, scaled to a standard deviation of one."""
    return rng.standard_t(3, runs) / math.sqrt(3)


def two_modes(rng: np.random.Generator, runs: int, rare: float = 0.3) -> np.ndarray:
    """Some runs miss a phase transition: a second mode, six standard deviations of the first away. Deviation one."""
    missed = (rng.random(runs) < rare) - rare
    return (6 * missed + rng.normal(size=runs)) / math.sqrt(36 * rare * (1 - rare) + 1)


@dataclass(frozen=True)
class World:
    """Where studies come from. Figures are standard deviations in nats per character."""

    about: str
    over_seeds: float = 0.01
    """Of a run; half of the variance is shared by all arms with the same seed."""
    over_stories: float = 0.01
    """Of what an arm is better or worse at, the same for all its seeds."""
    interaction: float = 0.01
    """Of what a single run is better or worse at."""
    noise: Noise = normal
    noise_of_arm: Noise | None = None
    """If the arm's noise is of another kind than its parent's."""
    stories: int = 150
    lengths: str = "even"
    """``even``: 300 to 1,500 characters; ``skewed``: log-normal, a few stories hold most of the text."""

    def draw(self, rng: np.random.Generator, seeds: int, effects: Sequence[float]) -> list[list[Scores]]:
        """Runs of a base and of one arm per effect, in nats per character above it: one `Scores` a seed."""
        even = rng.integers(300, 1500, self.stories)
        skewed = 20 + rng.lognormal(6.0, 1.5, self.stories).astype(np.int64)
        characters = even if self.lengths == "even" else skewed
        hardness = rng.normal(0, 0.15, self.stories)
        shared = rng.normal(0, self.over_seeds * math.sqrt(0.5), seeds)
        arms = []
        for place, effect in enumerate((0.0, *effects)):
            noise = self.noise_of_arm if place and self.noise_of_arm else self.noise
            own = self.over_seeds * math.sqrt(0.5) * noise(rng, seeds)
            level = 1.0 + effect + hardness + rng.normal(0, self.over_stories, self.stories)
            each = rng.normal(0, self.interaction, (seeds, self.stories)) if self.interaction else 0.0
            nats = (level + (shared + own)[:, None] + each) * characters
            arms.append([Scores(one, characters) for one in nats])
        return arms

    def spread(self) -> float:
        """The true standard deviation of a seed's difference, for `even` lengths."""
        weights = (1500**3 - 300**3) / 3 / 1200 / 900**2  # mean of squares over square of the mean
        return math.sqrt(self.over_seeds**2 + 2 * self.interaction**2 * weights / self.stories)

    def text_error(self) -> float:
        """The true standard error of a difference over stories, for `even` lengths, but for what single runs add."""
        weights = (1500**3 - 300**3) / 3 / 1200 / 900**2
        return math.sqrt(2 * self.over_stories**2 * weights / self.stories)


WORLDS: dict[str, World] = {
    "seeds alone": World("normal noise over seeds, none over stories", over_stories=0.0, interaction=0.0),
    "plain": World("normal noise over seeds, a little over stories"),
    "heavy tails": World("noise over seeds with 3 degrees of freedom", noise=heavy_tailed),
    "two modes": World("three runs of ten miss a phase transition", noise=two_modes),
    "text dominates": World("noise over seeds small beside noise over stories", 0.002, 0.1),
    "long stories": World("a few stories hold most of the text", 0.002, 0.1, lengths="skewed"),
    "interaction": World("every run has stories of its own that it is better at", 0.005, 0.02, 0.15),
}
"""Arm and parent are drawn from the same distribution."""
STRESS: dict[str, World] = {
    "eight stories": World("a validation text of eight stories, text dominates", 0.002, 0.1, stories=8),
    "arm alone has modes": World(
        "one run in ten of the arm misses a transition, of its parent none; equal in the mean",
        0.02,
        noise_of_arm=lambda rng, runs: 6 * two_modes(rng, runs, 0.1),
    ),
}
"""Where the assumptions break: little text; an arm that is equal to its parent in the mean alone."""
