"""A chart of results: a picture in a notebook, a file of any usual kind, a specification for who wants to change it."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any, final

from onechange import atomic

_PAPER = {"ink": "#1d1c1a", "muted": "#65615a", "paper": "#ffffff", "line": "#e5e1d8"}
"""The colours of the report on light paper: a picture has no page that could say them."""
_KINDS = (".svg", ".png", ".html", ".json")


@final
class Chart:
    """Drawn offline, with vl-convert. `vega` is the picture as a Vega specification, colours filled in.

    `save` as HTML gives a page that needs no network and, for the curves, tells figures to the pointer.
    """

    def __init__(self, title: str, vega: dict[str, Any]) -> None:
        from onechange.report import marks

        colours = _PAPER | {f"arm-{index}": colour for index, colour in enumerate(marks.LIGHT)}
        text = re.sub(r"var\(--([\w-]+)\)", lambda found: colours[found[1]], json.dumps(vega))
        self.title = title
        self.vega: dict[str, Any] = {**json.loads(text), "background": _PAPER["paper"], "description": title}

    def svg(self) -> str:
        """The picture as SVG, the same text every time, its ids no other picture's."""
        import vl_convert

        from onechange.report import still

        prefix = hashlib.sha256(json.dumps(self.vega).encode()).hexdigest()[:8]
        return still.named(vl_convert.vega_to_svg(self.vega, allowed_base_urls=[]), f"chart-{prefix}")

    def png(self, scale: float = 2.0) -> bytes:
        """The picture as PNG, ``scale`` pixels for every one of the chart's."""
        import vl_convert

        return vl_convert.vega_to_png(self.vega, scale=scale, allowed_base_urls=[])

    def html(self) -> str:
        """A page with the moving chart in it, everything that it needs included."""
        import vl_convert

        return vl_convert.vega_to_html(self.vega, bundle=True)

    def save(self, path: str | Path) -> Path:
        """Write the chart; the ending of ``path`` says how: .svg, .png, .html or .json (the specification)."""
        path = Path(path)
        if path.suffix not in _KINDS:
            raise ValueError(f"{path}: the ending {path.suffix!r} must be one of {', '.join(_KINDS)}")
        made = {
            ".svg": self.svg,
            ".png": self.png,
            ".html": self.html,
            ".json": lambda: json.dumps(self.vega),
        }
        atomic.write(path, made[path.suffix]())
        return path

    def __repr__(self) -> str:
        return f"Chart: {self.title}"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        """SVG for whoever shows it, and words for whoever does not."""
        return {"image/svg+xml": self.svg(), "text/plain": repr(self)}
