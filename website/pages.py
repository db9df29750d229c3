"""The site's pages, put together: those of `docs/` and of the root with their links made right, the reference, and a
page for every file of the code that is linked."""

import shutil
from pathlib import Path, PurePosixPath

from website import links, reference

WEBSITE = Path(__file__).resolve().parent
ROOT = WEBSITE.parent
HIDDEN = {"README.md": "toc", "docs/index.md": "navigation"}
"""What is left out beside a page: the tree of files needs the width, and the home is the only page of its section."""
KINDS = {".py": "python", ".toml": "toml", ".txt": "text"}


def assemble(folder: Path) -> None:
    """Write the site's Markdown, pictures and style into ``folder``."""
    linked: set[str] = set()
    shutil.copytree(ROOT / "docs", folder, ignore=shutil.ignore_patterns("*.md"), dirs_exist_ok=True)
    shutil.copy(WEBSITE / "site.css", folder)
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        path = page.relative_to(ROOT).as_posix()
        if path.startswith("docs/") or path in links.ROOT_PAGES:
            text = links.rewritten(page.read_text("utf-8"), path, linked.add)
            hidden = f"---\nhide: [{HIDDEN[path]}]\n---\n\n" if path in HIDDEN else ""
            _write(folder, links.on_the_site(path), hidden + text)
    for path in sorted(linked):
        if not path.startswith("docs/") and not path.endswith(".md"):
            _write(folder, links.on_the_site(path), _source(path))
    for page in reference.pages():
        _write(folder, page.path, page.text)


def _write(folder: Path, path: str, text: str) -> None:
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_text(text, "utf-8")


def _source(path: str) -> str:
    """A page that shows one file of the repository, or names the files of one folder."""
    name = PurePosixPath(path)
    if (ROOT / path).is_dir():
        return "\n".join(
            [f"# {path}", "", *(f"- `{found.name}`" for found in sorted((ROOT / path).iterdir())), ""]
        )
    text = (ROOT / path).read_text("utf-8")
    if path == "LICENSE":
        return f"# Licence\n\n```text\n{text}```\n"
    kind = KINDS.get(name.suffix, "text")
    return f"---\nsearch:\n  exclude: true\n---\n\n# {name.name}\n\n`{path}`\n\n````{kind}\n{text}````\n"
