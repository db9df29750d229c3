"""The ladder in characters, for the terminal and the Markdown report."""

from onechange.report.answer import change, decimals
from onechange.report.digits import plain, signed
from onechange.report.ladder import domain
from onechange.report.marks import symbol
from onechange.report.study import Arm, Study


def lines(study: Study, width: int = 78) -> list[str]:
    """The ladder, at most ``width`` characters wide (40 or more), without colour."""
    names = min(max((len(arm.name) for arm in study.arms), default=0), width // 3)
    across = width - names - 4
    low, high = domain(study)
    digits = decimals(study)

    def column(value: float) -> int:
        return round((value - low) / (high - low) * (across - 1))

    floor = column(study.floor) if study.floor is not None else None
    drawn = [f"{'':{names}}  {_axis(low, high, across, digits)}"]
    for arm in study.arms:
        parent = next((other for other in study.arms if other.name == arm.parent), None)
        if arm.best and parent and parent.best:
            start, end = column(parent.best.nats_per_character), column(arm.best.nats_per_character)
            drawn += [
                f"{'':{names}}  {row}".rstrip()
                for row in _arrow(study, arm, start, end, across, floor, digits)
            ]
        drawn.append(f"{_cut(arm.name, names):{names}}  {_row(arm, column, across, floor, digits)}".rstrip())
    if study.floor is not None and floor is not None:
        drawn.append(f"{'':{names}}  {' ' * floor}╵ floor {plain(study.floor, digits)}")
    return drawn


def _axis(low: float, high: float, across: int, digits: int) -> str:
    left, right = plain(low, digits), plain(high, digits)
    title = "nats per character"
    room = across - len(left) - len(right)
    return f"{left}{title:{'─'}^{room}}{right}" if room > len(title) else f"{left}{'─' * max(1, room)}{right}"


def _row(arm: Arm, column, across: int, floor: int | None, digits: int) -> str:
    if arm.best is None:
        return _cut(arm.trouble or "has no figure", across)
    best, cells = arm.best, [" "] * across
    if floor is not None:
        cells[floor] = "╎"
    at = column(best.nats_per_character)
    if best.low is not None and best.high is not None:
        for place in range(max(0, column(best.low)), min(across - 1, column(best.high)) + 1):
            cells[place] = "━"
    cells[at] = symbol(arm.index)
    bar = [place for place, cell in enumerate(cells) if cell == "━"]
    start, end = min([at, *bar]), max([at, *bar])
    text = plain(best.nats_per_character, digits)
    if end + 2 + len(text) <= across:
        _write(cells, end + 2, text)
    elif start - 1 - len(text) >= 0:
        _write(cells, start - 1 - len(text), text)
    else:  # no room beside the bar: in the middle of its longer half
        left, right = (0, at) if at > across // 2 else (at + 1, across)
        _write(cells, (left + right - len(text)) // 2 - 1, f" {text} ")
    return "".join(cells)


def _arrow(
    study: Study, arm: Arm, start: int, end: int, across: int, floor: int | None, digits: int
) -> list[str]:
    right = max(start, end) + 2
    room = max(across - right, start - 1)
    text = _moved(study, arm, room, digits)
    upper, lower = ([" "] * across for _ in range(2))
    if floor is not None:
        upper[floor] = lower[floor] = "╎"
    upper[start] = "│"
    for place in range(min(start, end), max(start, end) + 1):
        lower[place] = "─"
    if start == end:
        lower[start] = "▼"
    else:
        lower[start] = "╯" if end < start else "╰"
        lower[end] = "▼"
    if right + len(text) <= across:
        _write(lower, right, text)
    else:
        _write(upper, max(0, start - 1 - len(text)), text)
    return ["".join(upper), "".join(lower)]


def _moved(study: Study, arm: Arm, room: int, digits: int) -> str:
    """The change and what it moved, as fully as there is ``room`` for; the figure is never cut."""
    found = arm.versus("best")
    figure = "" if found is None else f"  {signed(found['nats_per_character_difference'], digits)}"
    whole = change(study, arm) + figure
    return whole if len(whole) <= room else _cut(change(study, arm, brief=True), room - len(figure)) + figure


def _write(cells: list[str], at: int, text: str) -> None:
    for offset, letter in enumerate(text):
        if 0 <= at + offset < len(cells):
            cells[at + offset] = letter


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else text[: max(1, room - 1)].rstrip() + "…"
