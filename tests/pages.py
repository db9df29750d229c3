"""The project's Markdown pages, as tests read them."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    page
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    if page.is_file() and page.stat().st_size
)


def blocks(page: Path, *kinds: str) -> list[str]:
    """The fenced blocks of ``page`` whose fence names one of ``kinds``."""
    found = re.findall(r"^```(\w+)\n(.*?)^```$", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    return [content for kind, content in found if kind in kinds]


def tables(page: Path) -> list[list[list[str]]]:
    """Every table of ``page``: rows of cells, the heading first."""
    found: list[list[list[str]]] = []
    for line in page.read_text("utf-8").splitlines():
        if not line.startswith("|"):
            found.append([])
        elif not set(line) <= set("|-: "):
            found[-1].append([cell.strip() for cell in line.strip("|").split(" |")])
    return [table for table in found if table]
