"""The ladder: every arm a dot with its interval on an axis of nats per character, every change an arrow."""

from dataclasses import dataclass
from typing import Any

import altair as alt

from onechange.report.answer import change, decimals
from onechange.report.digits import plain, signed
from onechange.report.marks import colour, shape
from onechange.report.study import Arm, Figure, Study

MARGIN = 4
INK, MUTED, PAPER = "var(--ink)", "var(--muted)", "var(--paper)"


@dataclass(frozen=True)
class Layout:
    """Sizes in pixels; where ``brief``, a change is named without its settings and its interval."""

    width: int
    row: int
    font: int
    brief: bool

    @property
    def plot(self) -> int:
        return self.width - 2 * MARGIN


LAYOUTS = {
    "narrow": Layout(width=352, row=92, font=13, brief=True),
    "medium": Layout(width=640, row=86, font=13, brief=False),
    "wide": Layout(width=1040, row=86, font=14, brief=False),
}


def chart(study: Study, layout: Layout) -> alt.TopLevelMixin:
    """The ladder at one width. Arms without a figure keep their row and say why they have none."""
    drawing = _Drawing(study, layout)
    height = layout.row * len(study.arms) - layout.row // 3 + (18 if study.floor is not None else 0)
    drawing.draw(height)
    across = alt.Scale(domain=list(drawing.domain), nice=False, zero=False)
    axis = alt.Axis(
        orient="top",
        title="nats per character (← better)",
        titleAnchor="start",
        titlePadding=8,
        tickCount=max(3, layout.plot // 130),
    )
    x = alt.X("x:Q", scale=across, axis=axis)
    y = alt.Y("y:Q", scale=alt.Scale(domain=[0, height], reverse=True, nice=False), axis=None)
    head = {"shape": "triangle-down", "filled": True, "size": 60, "opacity": 1, "color": MUTED}
    dot = {"shape": {"expr": "datum.shape"}, "filled": True, "size": 160, "opacity": 1}
    band = {"strokeWidth": 8, "opacity": 0.35, "strokeCap": "round", "color": {"expr": "datum.colour"}}
    floor = {"color": INK, "strokeDash": [2, 3], "strokeWidth": 1.5}
    words: dict[str, Any] = {
        "align": {"expr": "datum.align"},
        "baseline": "middle",
        "fontSize": layout.font,
        "fontWeight": {"expr": "datum.bold ? 600 : 400"},
    }
    layers = [
        marked(drawing.floor).mark_rule(**floor).encode(y2="y2:Q"),
        marked(drawing.paths).mark_line(color=MUTED, strokeWidth=1.5).encode(order="order:Q", detail="arm:N"),
        marked(drawing.heads).mark_point(**head),
        marked(drawing.intervals).mark_rule(**band).encode(x2="x2:Q"),
        marked(drawing.dots).mark_point(**dot, color={"expr": "datum.colour"}),
        marked(drawing.words)
        .mark_text(**words, color=PAPER, stroke=PAPER, strokeWidth=5)
        .encode(text="text:N"),
        marked(drawing.words).mark_text(**words, color={"expr": "datum.ink"}).encode(text="text:N"),
    ]
    return alt.layer(*(layer.encode(x=x, y=y) for layer in layers)).properties(
        width=layout.plot,
        height=height,
        padding={"left": MARGIN, "right": MARGIN, "top": 44, "bottom": 4},
        autosize=alt.AutoSizeParams(type="none"),
    )


def domain(study: Study) -> tuple[float, float]:
    """The stretch of nats per character that the ladder shows: arms, intervals and floor, and some room."""
    values = [study.floor]
    for arm in study.arms:
        if arm.best:
            values += [arm.best.nats_per_character, arm.best.low, arm.best.high]
    known = [value for value in values if value is not None]
    if not known:
        return 0.0, 1.0
    span = max(known) - min(known) or 0.1
    return min(known) - 0.05 * span, max(known) + 0.05 * span


def marked(rows: list[dict[str, Any]]) -> alt.Chart:
    """A layer of marks from rows that already say where each stands."""
    return alt.Chart(alt.InlineData(values=rows))


class _Drawing:
    """Every mark of the ladder as rows of data: x in nats per character, y in pixels from the top."""

    def __init__(self, study: Study, layout: Layout) -> None:
        self.study, self.layout, self.digits = study, layout, decimals(study)
        self.domain = domain(study)
        self.nats_per_pixel = (self.domain[1] - self.domain[0]) / layout.plot
        self.floor: list[dict[str, Any]] = []
        self.paths: list[dict[str, Any]] = []
        self.heads: list[dict[str, Any]] = []
        self.intervals: list[dict[str, Any]] = []
        self.dots: list[dict[str, Any]] = []
        self.trunks: dict[str | None, float] = {}
        self.words: list[dict[str, Any]] = []

    def draw(self, height: int) -> None:
        if self.study.floor is not None:
            self.floor.append({"x": self.study.floor, "y": 0, "y2": height})
            label = f"floor {plain(self.study.floor, self.digits)}"
            self.word(self.study.floor, height - 8, label, shift=8, ink=MUTED)
        for arm in self.study.arms:
            y = 30 + self.layout.row * arm.index
            if arm.best is None:
                reason = f"{arm.name} {arm.trouble or 'has no figure'}"
                self.word(self.domain[0], y, shortened(reason, self.room(1.0)), ink=MUTED)
                continue
            self.arm(arm, arm.best, y)
            parent = next((other for other in self.study.arms if other.name == arm.parent), None)
            if parent is not None and parent.best is not None:
                self.arrow(arm, parent.best.nats_per_character, 30 + self.layout.row * parent.index, y)

    def arm(self, arm: Arm, best: Figure, y: float) -> None:
        value, low, high = best.nats_per_character, best.low, best.high
        if low is not None and high is not None:
            self.intervals.append({"x": low, "x2": high, "y": y, "colour": colour(arm.index)})
        self.dots.append({"x": value, "y": y, "shape": shape(arm.index), "colour": colour(arm.index)})
        right, left = self.pixel(high or value), self.pixel(low or value)
        text = plain(value, self.digits)
        if self.layout.plot - right >= left:
            name = shortened(arm.name, self.layout.plot - right - 70)
            self.word(high or value, y, f"{text}  {name}", shift=13, bold=True)
        else:
            self.word(low or value, y, f"{shortened(arm.name, left - 70)}  {text}", shift=-13, bold=True)

    def arrow(self, arm: Arm, start: float, parent_y: float, y: float) -> None:
        assert arm.best is not None
        end, turn, tip = arm.best.nats_per_character, y - self.layout.row / 2, y - 15
        corners = [
            (start, self.trunks.get(arm.parent, parent_y + 12)),
            (start, turn),
            (end, turn),
            (end, tip),
        ]
        self.trunks[arm.parent] = turn
        self.paths += [{"x": x, "y": at, "order": n, "arm": arm.name} for n, (x, at) in enumerate(corners)]
        self.heads.append({"x": end, "y": tip})
        text, rightmost = self.moved(arm), max(start, end)
        needed = 7.1 * len(text)
        if self.pixel(rightmost) + 12 + needed < self.layout.plot:
            self.word(rightmost, turn, text, shift=12)
        elif self.pixel(start) > needed:
            self.word(start, turn - 12, text, shift=-10)
        else:
            self.word(self.domain[0], turn - 12, shortened(text, self.room(1.0)))

    def moved(self, arm: Arm) -> str:
        """What the arrow says: the change and what it moved."""
        text, found = change(self.study, arm, brief=self.layout.brief), arm.versus("best")
        if found is None:
            return text
        text += f"\u2002{signed(found['nats_per_character_difference'], self.digits)}"
        if self.layout.brief or found.get("low") is None:
            return text
        return f"{text} ± {plain((found['high'] - found['low']) / 2, self.digits)}"

    def word(
        self, x: float, y: float, text: str, shift: float = 0, ink: str = INK, bold: bool = False
    ) -> None:
        """A text beside ``x``: to its right, or to its left where ``shift`` (pixels) is negative."""
        at = x + shift * self.nats_per_pixel
        align = "right" if shift < 0 else "left"
        self.words.append({"x": at, "y": y, "text": text, "ink": ink, "bold": bold, "align": align})

    def pixel(self, value: float) -> float:
        return (value - self.domain[0]) / self.nats_per_pixel

    def room(self, share: float) -> float:
        return share * self.layout.plot


def shortened(text: str, pixels: float) -> str:
    """``text``, or as much of its beginning as ``pixels`` have room for."""
    room = max(4, int(pixels / 7.1))
    return text if len(text) <= room else text[: room - 1].rstrip() + "…"
