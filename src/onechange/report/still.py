"""Charts become pictures: compiled and drawn offline by the library that also moves them in the browser."""

import re
from typing import Any

import altair as alt
import vl_convert

FONT = "system-ui, sans-serif"
CONFIG: dict[str, Any] = {
    "background": None,
    "font": FONT,
    "view": {"stroke": None},
    "axis": {
        "domain": False,
        "ticks": False,
        "gridColor": "var(--line)",
        "labelColor": "var(--muted)",
        "labelFontSize": 12,
        "labelPadding": 6,
        "titleColor": "var(--muted)",
        "titleFontSize": 12,
        "titleFontWeight": "normal",
    },
}


def compiled(chart: alt.TopLevelMixin) -> dict[str, Any]:
    """The chart as a Vega specification, which a browser draws without compiling anything."""
    return vl_convert.vegalite_to_vega(chart.to_dict(), config=CONFIG)


def svg(specification: dict[str, Any], prefix: str) -> str:
    """A Vega specification as inline SVG, its ids made of ``prefix`` and so the page's only ones.

    The picture is hidden from screen readers: the page puts a text in its place.
    """
    drawn = named(vl_convert.vega_to_svg(specification, allowed_base_urls=[]), prefix)
    drawn = re.sub(r' (?:role|aria-[a-z]+)="[^"]*"', "", drawn)
    return drawn.replace("<svg ", '<svg aria-hidden="true" focusable="false" ', 1)


def named(drawn: str, prefix: str) -> str:
    """SVG with its ids made of ``prefix``: those that it comes with are counted on from picture to picture."""
    for number, name in enumerate(dict.fromkeys(re.findall(r"url\(#([\w-]+)\)", drawn))):
        drawn = drawn.replace(f"url(#{name})", f"url(#{prefix}-{number})")
        drawn = drawn.replace(f'id="{name}"', f'id="{prefix}-{number}"')
    return drawn
