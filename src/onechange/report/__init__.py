"""The report of a study: `report.html` and `report.md`, made of nothing but the files in its folder."""

from pathlib import Path

from onechange import atomic
from onechange.report.study import Study, read

__all__ = ["Study", "read", "write"]


def write(folder: Path) -> Path:
    """Write `report.html` and `report.md` into a study's ``folder`` and return the path of the first.

    Raises a `FileNotFoundError` or a `ValueError` where ``folder`` holds no `results.json` that can be read.
    """
    from onechange.report import (
        markdown,
        page,
    )  # what draws takes a second to import, and a server reads only

    study = read(folder)
    atomic.write(folder / "report.md", markdown.text(study))
    atomic.write(folder / "report.html", page.html(study))
    return folder / "report.html"
