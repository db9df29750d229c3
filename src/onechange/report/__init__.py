"""The report of a study: `report.html` and `report.md`, made of nothing but the files in its folder."""

import os
import tempfile
from pathlib import Path

from onechange.report import markdown, page
from onechange.report.study import Study, read

__all__ = ["Study", "read", "write"]


def write(folder: Path) -> Path:
    """Write `report.html` and `report.md` into a study's ``folder`` and return the path of the first.

    Raises a `FileNotFoundError` or a `ValueError` where ``folder`` holds no `results.json` that can be read.
    """
    study = read(folder)
    _replace(folder / "report.md", markdown.text(study))
    _replace(folder / "report.html", page.html(study))
    return folder / "report.html"


def _replace(path: Path, text: str) -> None:
    """Write a file so that a reader sees the old one or the new one, never a part."""
    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
