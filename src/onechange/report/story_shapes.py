"""What `results.json` says of the stories that a study's arms wrote, so that a damaged one is told by name."""

from typing import TypedDict

from onechange.shapes import Count, Real, StoryFigure


class ArmFigure(TypedDict):
    """A measure of an arm over its seeds, with its interval; None where it applies to no story."""

    figure: Real | None
    low: Real | None
    high: Real | None
    seeds: Count


class Difference(TypedDict):
    """A measure of an arm minus that of something else; ``p`` and ``p_holm`` are None where nothing is judged."""

    difference: Real
    low: Real | None
    high: Real | None
    seeds: Count
    p: Real | None
    p_holm: Real | None
    verdict: str


Figure = ArmFigure | StoryFigure
Differences = dict[str, Difference]


class ArmStories(TypedDict):
    """What is measured of an arm's stories, by measure."""

    best: dict[str, ArmFigure]
    last: dict[str, ArmFigure]
    versus_parent: Differences | None
    versus_parent_last: Differences | None
    last_versus_best: Differences | None


class Correlation(TypedDict):
    """Spearman's ρ at one level."""

    rho: Real
    p: Real | None


class Tracking(TypedDict):
    """How one measure goes with the loss over a study's checkpoints."""

    points: Count
    all: Real | None
    between_arms: Correlation | None
    within_arms: Correlation | None
    within_runs: Correlation | None
