"""The tutorial's figures, drawn from a study that was run: `python -m website.figures runs/STUDY`.

They are the charts of the report, each as one SVG that follows the reader's light or dark system. No text of the study
is in them.
"""

import argparse
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from onechange.report import curves_chart, ladder, marks, still, where_chart
from onechange.report import study as studies
from website.pages import ROOT

MARGIN = 14
"""Pixels of paper around a picture."""
SCHEMES = {
    "light": ("#fffefb", "#1d1c1a", "#65615a", "#e5e1d8", marks.LIGHT),
    "dark": ("#15171a", "#e9e6e0", "#a39e95", "#2f3238", marks.DARK),
}
"""Paper, ink, muted, line and the arms' colours, as in the report's `page.css`."""


def drawn(folder: Path) -> Iterator[tuple[str, str]]:
    """Name and SVG of every figure that the study in ``folder`` has."""
    study = studies.read(folder)
    layout = ladder.LAYOUTS["medium"]
    specifications: dict[str, dict[str, Any] | None] = {
        "ladder": still.compiled(ladder.chart(study, layout)),
        "curves": curves_chart.specification(study, layout, hover=False),
        "context": where_chart.specification(study, layout, "by_context"),
    }
    for name, specification in specifications.items():
        if specification is not None:
            yield f"tutorial-{name}.svg", _alone(still.svg(specification, name))


def _alone(svg: str) -> str:
    """The picture with what the report's page gives it there: the colours, and paper to stand on."""
    light, dark = (_colours(*scheme) for scheme in SCHEMES.values())
    style = (
        f":root{{{light}}}@media (prefers-color-scheme:dark){{:root{{{dark}}}}}svg{{background:var(--paper)}}"
    )
    head, rest = svg.split(">", 1)
    head = head.replace(' aria-hidden="true" focusable="false"', "")
    size = re.search(r'width="([\d.]+)" height="([\d.]+)" viewBox="0 0 [\d.]+ [\d.]+"', head)
    assert size is not None, head
    width, height = (float(number) + 2 * MARGIN for number in size.groups())
    room = f'width="{width:g}" height="{height:g}" viewBox="-{MARGIN} -{MARGIN} {width:g} {height:g}"'
    head = head.replace(size[0], room)
    return f"{head}><style>{style}</style>{rest}\n"


def _colours(paper: str, ink: str, muted: str, line: str, arms: tuple[str, ...]) -> str:
    named = {"paper": paper, "ink": ink, "muted": muted, "line": line}
    named |= {f"arm-{number}": arm for number, arm in enumerate(arms)}
    return ";".join(f"--{name}:{value}" for name, value in named.items())


def main() -> None:
    arguments = argparse.ArgumentParser(
        prog="python -m website.figures", description=(__doc__ or "").splitlines()[0]
    )
    arguments.add_argument("folder", type=Path, help="a study's folder")
    arguments.add_argument("--out", type=Path, default=ROOT / "docs" / "images", help="where the figures go")
    given = arguments.parse_args()
    for name, svg in drawn(given.folder):
        (given.out / name).write_text(svg, "utf-8")
        print(given.out / name)


if __name__ == "__main__":
    main()
