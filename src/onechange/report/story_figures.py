"""The measures of a study's stories as `results.json` has them, and how their figures are written."""

from dataclasses import dataclass
from itertools import chain
from typing import Literal

from onechange import shapes
from onechange.report import story_shapes
from onechange.report.digits import DASH, decimals_for, plain, signed
from onechange.report.study import Arm, Point, Study
from onechange.stories.measures import ALL, WORLD

GROUPS: dict[str, tuple[str, ...]] = {
    "Words": ("unknown_words", "distinct_words", "distinct_words_between"),
    "Repetition": ("repeated_phrases", "longest_loop"),
    "People": ("hero_kept", "new_names"),
    "Form": ("quotes_left_open", "sentence_ends", "ended", "length"),
    "Memory": ("copied", "longest_copy"),
    "The corpus’s world: stories without a given beginning, beside the generator’s own": tuple(WORLD),
}
"""Every measure, in the order in which reports show them."""
Compared = Literal["last_versus_best", "versus_parent", "versus_parent_last"]
_MOST = 4
"""Decimals at most."""
JUDGED = ("better", "worse", "higher", "lower", "no difference seen")


@dataclass(frozen=True, eq=False)
class ArmStories:
    """An arm and what is measured of its stories."""

    arm: Arm
    found: story_shapes.ArmStories

    @property
    def goes_on(self) -> bool:
        """Whether some run's last checkpoint is another one than its best."""
        return self.found["last_versus_best"] is not None

    def differences(self, key: Compared) -> story_shapes.Differences:
        """By measure; empty where there is none."""
        return self.found[key] or {}

    def figure(self, point: Point, measure: str) -> story_shapes.Figure | None:
        return self.found[point].get(measure)


@dataclass(frozen=True, eq=False)
class StoryFigures:
    """All that is on record of a study's stories; ``reference`` is None where there are no real ones."""

    reference: shapes.RealStories | None
    arms: tuple[ArmStories, ...]
    tracking: dict[str, story_shapes.Tracking]

    def real(self, measure: str) -> shapes.StoryFigure | None:
        return self.reference["real"].get(measure) if self.reference else None

    def groups(self) -> list[tuple[str, list[str]]]:
        """The measures that are on record, by groups."""
        known = {name for one in self.arms for name in one.found["best"]}
        found = [(title, [name for name in names if name in known]) for title, names in GROUPS.items()]
        return [(title, names) for title, names in found if names]

    def measures(self) -> list[str]:
        return [name for _, names in self.groups() for name in names]

    def arm(self, name: str | None) -> ArmStories | None:
        return next((one for one in self.arms if one.arm.name == name), None)

    def decimals(self, measure: str) -> int:
        """For all figures of one measure: what the finest interval deserves, but one more than the coarsest at most."""
        points: tuple[Point, ...] = ("best", "last")
        shown = [self.real(measure), *(one.figure(point, measure) for one in self.arms for point in points)]
        halves = [
            (found["high"] - found["low"]) / 2 * scale(measure)
            for found in shown
            if found and found["low"] is not None and found["high"] is not None
        ]
        finest, coarsest = (
            decimals_for(some, least=0, most=2, unknown=0 if scale(measure) == 100 else 2)
            for some in (halves, [max(halves, default=0.0)])
        )
        return min(finest, coarsest + 1)

    def written(self, value: float | None, measure: str) -> str:
        """A figure as text: ``3.1%``, ``657``; a dash where there is none."""
        if value is None:
            return DASH
        return plain(value * scale(measure), self.decimals(measure)) + unit(measure)

    def apart(self, value: float, measure: str) -> str:
        """A difference as text, in percentage points where figures are shares: ``+0.8``."""
        return signed(value * scale(measure), self.decimals(measure))

    def interval(self, found: story_shapes.Difference, measure: str) -> str:
        """A difference's interval as text, empty where it has none. One apart from 0 has digits enough to show it."""
        low, high = found["low"], found["high"]
        if low is None or high is None:
            return ""
        decimals = self.decimals(measure)
        nearer = min(abs(low), abs(high)) * scale(measure) if apart_from_zero(found) else 1.0
        while decimals < _MOST and float(f"{nearer:.{decimals}f}") == 0:
            decimals += 1
        return " to ".join(signed(limit * scale(measure), decimals) for limit in (low, high))


def read(study: Study) -> StoryFigures | None:
    """What the study has; None where none of its stories was measured. A `ValueError` says that it is damaged."""
    arms = []
    for arm in study.arms:
        if (found := arm.record.get("stories")) is not None:
            shapes.fit(found, story_shapes.ArmStories, f"results.json: stories of {arm.name}")
            arms.append(ArmStories(arm, found))
    if not any(chain.from_iterable(one.found["best"] for one in arms)):
        return None
    reference, tracking = study.record.get("stories"), study.record.get("stories_tracking") or {}
    shapes.fit(reference, shapes.RealStories | None, "results.json: stories")
    shapes.fit(tracking, dict[str, story_shapes.Tracking], "results.json: stories_tracking")
    return StoryFigures(reference, tuple(arms), {name: tracking[name] for name in ALL if name in tracking})


def apart_from_zero(found: story_shapes.Difference) -> bool:
    """Whether the interval is known and does not hold 0."""
    low, high = found["low"], found["high"]
    return low is not None and high is not None and not low <= 0 <= high


def scale(measure: str) -> int:
    """What a figure is multiplied by to be shown."""
    return 100 if ALL[measure].unit in ("share", "share of stories") else 1


def unit(measure: str) -> str:
    return "%" if scale(measure) == 100 else ""
