"""What onechange needs and which of it is installed, read from its own package's metadata: no list is kept twice."""

import re
from importlib import metadata

_REQUIREMENT = re.compile(r"\s*(?P<name>[\w.-]+)[^;]*(?:;.*extra == ['\"](?P<extra>[\w-]+)['\"])?")
CORE = ""
"""The extra of what every installation needs."""
ALL = "all"


def requirements() -> dict[str, list[str]]:
    """The packages of `CORE` and of every extra for those who use it: what is no part of ``all`` is for its developers.

    Empty where onechange is not installed as a package.
    """
    found: dict[str, list[str]] = {}
    for line in _declared():
        parts = _REQUIREMENT.match(line)
        assert parts, line
        found.setdefault(parts["extra"] or CORE, []).append(parts["name"])
    together = set(found.pop(ALL, []))
    return {extra: names for extra, names in found.items() if extra == CORE or together.issuperset(names)}


def version(package: str) -> str | None:
    """The version of an installed ``package``, ``None`` of one that is not."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def versions() -> dict[str, dict[str, str | None]]:
    """Of every extra, and `CORE`, the installed versions of its packages."""
    return {extra: {name: version(name) for name in names} for extra, names in requirements().items()}


def _declared() -> list[str]:
    try:
        return metadata.requires("onechange") or []
    except metadata.PackageNotFoundError:
        return []
