"""How many digits a figure deserves, and how it is written: the interval decides."""

import math
from collections.abc import Iterable

MINUS, DASH = "−", "–"


def decimals_for(half_widths: Iterable[float | None], least: int = 2, most: int = 4, unknown: int = 3) -> int:
    """Decimals for figures whose intervals have these half-widths.

    The finest interval keeps its first digit, or two where that is a 1. Between ``least`` and ``most``, one for a
    whole page so that columns align; ``unknown`` where no interval is known.
    """
    known = [half for half in half_widths if half is not None and half > 0]
    if not known:
        return unknown
    finest = min(known)
    magnitude = math.floor(math.log10(finest))
    leading_one = finest / 10.0**magnitude < 2
    return min(most, max(least, leading_one - magnitude))


def spread(value: float, decimals: int) -> str:
    """A spread with the page's ``decimals``, or as many more as its first digit needs: never ``0.00``."""
    needed = -math.floor(math.log10(value)) if value > 0 else decimals
    return plain(value, max(decimals, min(needed, 6)))


def signed(value: float, decimals: int) -> str:
    """``−0.036`` or ``+0.004``; a zero after rounding has no sign."""
    text = f"{abs(value):.{decimals}f}"
    if float(text) == 0:
        return text
    return (MINUS if value < 0 else "+") + text


def plain(value: float, decimals: int) -> str:
    return f"{value:.{decimals}f}".replace("-", MINUS)


def count(value: float | None) -> str:
    """A whole number with separators of thousands; a dash where there is none."""
    return DASH if value is None else f"{value:,.0f}"


def between(values: Iterable[float]) -> str:
    """One whole number, or the lowest and the highest of several: ``1,200`` or ``1,000–1,400``."""
    ends = sorted({round(value) for value in values})
    return count(ends[0]) if len(ends) == 1 else f"{count(ends[0])}–{count(ends[-1])}"


def short(value: float | None) -> str:
    """Three significant digits and a word for the size: ``12.4 million``; below a million ``638,983``."""
    if value is None:
        return DASH
    for size, word in ((1e12, "trillion"), (1e9, "billion"), (1e6, "million")):
        if abs(value) >= size:
            return f"{value / size:.3g} {word}"
    return significant(value)


def significant(value: float | None, digits: int = 3) -> str:
    """``digits`` significant digits without an exponent: ``0.0352``, ``2.25``, ``1,154``."""
    if value is None:
        return DASH
    if value == 0:
        return "0"
    decimals = digits - 1 - math.floor(math.log10(abs(value)))
    return f"{value:,.{max(0, decimals)}f}".replace("-", MINUS)


def seconds(value: float | None) -> str:
    """``42 s``, ``3 min 20 s``, ``2 h 5 min``."""
    if value is None:
        return DASH
    whole = round(value)
    if whole < 60:
        return f"{significant(value, 2)} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
