"""Links that are right in the repository, made right for the site, where some files lie elsewhere."""

import os
import re
from collections.abc import Callable
from pathlib import PurePosixPath

ROOT_PAGES = {
    "README.md": "overview.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "LICENSE": "licence.md",
}
"""Files at the repository's root that are pages of the site, and which."""

FENCE = re.compile(r"(^[ ]*```.*?^[ ]*```[ ]*$|`[^`\n]+`)", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#)([^)\s#]+)")


def on_the_site(path: str) -> str:
    """Where the file at ``path``, from the repository's root, lies on the site. A file of the code has a page."""
    if path in ROOT_PAGES:
        return ROOT_PAGES[path]
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return f"source/{path}.md"


def rewritten(text: str, path: str, seen: Callable[[str], None]) -> str:
    """The Markdown ``text`` of the file at ``path`` with its relative links as the site needs them.

    ``seen`` is told of every linked file, as a path from the repository's root.
    """
    here = PurePosixPath(on_the_site(path)).parent

    def link(found: re.Match[str]) -> str:
        target = os.path.normpath(PurePosixPath(path).parent / found[1])
        seen(target)
        return os.path.relpath(on_the_site(target), here)

    parts = FENCE.split(text)
    return "".join(part if number % 2 else LINK.sub(link, part) for number, part in enumerate(parts))
