"""What onechange needs and which of it is installed, read from its own package's metadata: no list is kept twice."""

import re
from importlib import metadata

_REQUIREMENT = re.compile(
    r"\s*(?P<name>[\w.-]+)(?:\[(?P<extras>[\w, -]+)\])?[^;]*(?:;.*extra == ['\"](?P<extra>[\w-]+)['\"])?"
)
CORE = ""
"""The extra of what every installation needs."""
ALL = "all"


def requirements() -> dict[str, list[str]]:
    """The packages that each extra brings, and `CORE`; empty where onechange is not installed as a package."""
    found: dict[str, list[str]] = {}
    together: list[str] = []
    for line in _declared():
        parts = _REQUIREMENT.match(line)
        assert parts, line
        extra = parts["extra"] or CORE
        if parts["name"] != "onechange":
            found.setdefault(extra, []).append(parts["name"])
        elif extra == ALL:
            together = [word.strip() for word in parts["extras"].split(",")]
    return {extra: found[extra] for extra in (CORE, *together) if extra in found}


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
