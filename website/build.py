"""`make docs`: puts the documentation site together and builds it strictly. `python website/build.py [--out DIR]`.

The pages of `docs/` and those at the root are copied with their links made right, the reference and pages of linked
files of the code are added, and MkDocs makes HTML of them. A warning is an error.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path, PurePosixPath

import yaml

import links
import reference

WEBSITE = Path(__file__).resolve().parent
ROOT = WEBSITE.parent
KINDS = {".py": "python", ".toml": "toml", ".txt": "text"}


def assemble(folder: Path) -> None:
    """Write the site's Markdown, pictures and style into ``folder``."""
    linked: set[str] = set()
    shutil.copytree(ROOT / "docs", folder, ignore=shutil.ignore_patterns("*.md"), dirs_exist_ok=True)
    shutil.copy(WEBSITE / "site.css", folder)
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        path = page.relative_to(ROOT).as_posix()
        if path.startswith("docs/") or path in links.ROOT_PAGES:
            _write(folder, links.on_the_site(path), links.rewritten(page.read_text("utf-8"), path, linked.add))
    for path in sorted(linked):
        if not path.startswith("docs/") and not path.endswith(".md"):
            _write(folder, links.on_the_site(path), _source(path))
    for page in reference.pages():
        _write(folder, page.path, page.text)


def _write(folder: Path, path: str, text: str) -> None:
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_text(text, "utf-8")


def _source(path: str) -> str:
    """A page that shows one file of the repository."""
    text, name = (ROOT / path).read_text("utf-8"), PurePosixPath(path)
    if path == "LICENSE":
        return f"# Licence\n\n```text\n{text}```\n"
    kind = KINDS.get(name.suffix, "text")
    return f"---\nsearch:\n  exclude: true\n---\n\n# {name.name}\n\n`{path}`\n\n````{kind}\n{text}````\n"


class Loader(yaml.SafeLoader):
    """Keeps MkDocs' tags as they are."""


class Dumper(yaml.SafeDumper):
    pass


class Tagged:
    def __init__(self, tag: str, value: object) -> None:
        self.tag, self.value = tag, value


def configuration(pages: Path, out: Path) -> str:
    """`mkdocs.yml` with the folder of pages, the one to write, and the navigation of the reference filled in."""
    Loader.add_multi_constructor("", lambda loader, tag, node: Tagged(tag, loader.construct_mapping(node, deep=True)))
    Dumper.add_representer(Tagged, lambda dumper, it: dumper.represent_mapping(it.tag, it.value))
    read = yaml.load((WEBSITE / "mkdocs.yml").read_text("utf-8"), Loader)  # noqa: S506 (derived from the safe one)
    for section in read["nav"]:
        if section.get("Reference") == "reference":
            section["Reference"] = reference.navigation()
    read |= {"docs_dir": str(pages), "site_dir": str(out)}
    for plugin in read["plugins"]:
        if isinstance(plugin, dict) and "mkdocstrings" in plugin:
            plugin["mkdocstrings"]["handlers"]["python"]["paths"] = [str(ROOT / "src")]
    return yaml.dump(read, Dumper=Dumper, sort_keys=False, allow_unicode=True)


def main() -> int:
    arguments = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    arguments.add_argument("--out", type=Path, default=ROOT / "site", help="the folder to write")
    out = arguments.parse_args().out.resolve()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        assemble(folder / "pages")
        (folder / "mkdocs.yml").write_text(configuration(folder / "pages", out), "utf-8")
        built = subprocess.run(
            [sys.executable, "-m", "mkdocs", "build", "--strict", "--config-file", folder / "mkdocs.yml"]
        )
    return built.returncode


if __name__ == "__main__":
    sys.exit(main())
