"""`mkdocs.yml`, read and completed."""

from pathlib import Path
from typing import Any

import yaml

from website import reference
from website.pages import ROOT, WEBSITE


class _Loader(yaml.SafeLoader):
    """Keeps tags that MkDocs is to make something of."""


class _Dumper(yaml.SafeDumper):
    """Writes them again."""


class _Tagged:
    def __init__(self, tag: str, value: dict[str, Any]) -> None:
        self.tag, self.value = tag, value


def _kept(loader: Any, tag: str, node: Any) -> _Tagged:
    return _Tagged(f"tag:yaml.org,2002:{tag}", loader.construct_mapping(node, deep=True))


_Loader.add_multi_constructor("tag:yaml.org,2002:", _kept)
_Dumper.add_representer(_Tagged, lambda dumper, it: dumper.represent_mapping(it.tag, it.value))


def read() -> dict[str, Any]:
    """`website/mkdocs.yml` as it stands."""
    return yaml.load((WEBSITE / "mkdocs.yml").read_text("utf-8"), _Loader)


def completed(pages: Path, out: Path) -> str:
    """The same with the folder of pages, the one to write, and the navigation of the reference filled in."""
    content = read()
    for section in content["nav"]:
        if section.get("Reference") == "reference":
            section["Reference"] = reference.navigation()
    for plugin in content["plugins"]:
        if isinstance(plugin, dict) and "mkdocstrings" in plugin:
            plugin["mkdocstrings"]["handlers"]["python"]["paths"] = [str(ROOT / "src")]
    content |= {"docs_dir": str(pages), "site_dir": str(out)}
    return yaml.dump(content, Dumper=_Dumper, sort_keys=False, allow_unicode=True)
