"""The table of what stories are like: every measure, of real ones and of each arm's at its best and last step."""

from dataclasses import dataclass
from typing import Literal

from onechange import shapes
from onechange.report import story_shapes
from onechange.report.digits import DASH, plain
from onechange.report.story_figures import ArmStories, StoryFigures, scale
from onechange.report.study import Arm, Point
from onechange.stories.measures import ALL, Good

Side = Literal["above", "below", ""]
GOOD: dict[Good, str] = {"less": "less is better", "more": "more is better", "as real": "like real stories"}
ARROWS: dict[Side, str] = {"above": "↑", "below": "↓", "": ""}


@dataclass(frozen=True, eq=False)
class Column:
    """An arm at one of its checkpoints; ``only`` where the last is the best one and has no column of its own."""

    arm: Arm
    point: Point
    only: bool

    @property
    def title(self) -> str:
        return "best and last step" if self.only else f"{self.point} step"


@dataclass(frozen=True)
class Figure:
    """A figure and its interval as text. ``side``: where it lies clear of real stories."""

    text: str
    interval: str
    side: Side = ""

    @property
    def arrow(self) -> str:
        return ARROWS[self.side]


@dataclass(frozen=True)
class Row:
    """One measure; ``figures`` in the order of the columns."""

    label: str
    good: str
    definition: str
    real: Figure
    figures: tuple[Figure, ...]


def columns(written: StoryFigures) -> list[Column]:
    """Two for every arm, one where its last step is its best."""
    return [column for one in written.arms for column in _columns(one)]


def rows(written: StoryFigures) -> list[tuple[str, list[Row]]]:
    """The measures that are on record, by groups with their titles."""
    return [(title, [_row(written, name) for name in names]) for title, names in written.groups()]


def _columns(one: ArmStories) -> list[Column]:
    if one.goes_on:
        return [Column(one.arm, "best", False), Column(one.arm, "last", False)]
    return [Column(one.arm, "best", True)]


def _row(written: StoryFigures, name: str) -> Row:
    real = written.real(name)
    figures = [one.figure(column.point, name) for one in written.arms for column in _columns(one)]
    measure = ALL[name]
    return Row(
        label=measure.label,
        good=GOOD[measure.good],
        definition=measure.definition,
        real=_figure(written, name, real),
        figures=tuple(_figure(written, name, figure, real) for figure in figures),
    )


def _figure(
    written: StoryFigures,
    name: str,
    found: story_shapes.Figure | None,
    real: shapes.StoryFigure | None = None,
) -> Figure:
    if found is None or found["figure"] is None:
        return Figure(DASH, "")
    text = written.written(found["figure"], name)
    limits = _limits(found)
    if limits is None:
        return Figure(text, "")
    # No measure can be below 0, nor a share above 1, so what lies there is no part of an interval.
    low, high = max(0.0, limits[0]), min(limits[1], 1.0 if scale(name) == 100 else limits[1])
    decimals = written.decimals(name)
    interval = " to ".join(plain(limit * scale(name), decimals) for limit in (low, high))
    return Figure(text, interval, _side(limits, real))


def _limits(found: story_shapes.Figure) -> tuple[float, float] | None:
    low, high = found["low"], found["high"]
    return None if low is None or high is None else (low, high)


def _side(limits: tuple[float, float], real: shapes.StoryFigure | None) -> Side:
    """Where an interval lies beside that of real stories, or beside the figure that all of them share."""
    if real is None or real["figure"] is None or real["stories"] < 2:
        return ""
    low, high = _limits(real) or (real["figure"], real["figure"])
    return "above" if limits[0] > high else "below" if limits[1] < low else ""
