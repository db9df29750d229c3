"""SOURCE, the word that a command takes for a corpus: ``storyworld``, ``tinystories:PATH``, ``file:PATH``."""

import inspect
from pathlib import Path
from typing import Any

from onechange import family


def parse(word: str) -> dict[str, Any]:
    """The resolved table of the corpus that ``word`` names: a member, and after a colon its path.

    Raises `LookupError` or `ValueError` that lists what is allowed.
    """
    name, colon, path = word.partition(":")
    if name not in family.members("corpus"):
        advice = f"; for your own text write file:{word}" if Path(word).expanduser().exists() else ""
        raise LookupError(f"source {word!r}: it must be one of {', '.join(allowed())}{advice}")
    if not colon:
        settings = family.defaults("corpus", name)
        if "path" in settings and not _optional(settings["path"]):
            raise ValueError(f"source {word!r}: it needs a path: {name}:PATH")
        return family.resolve("corpus", name)
    if "path" not in family.defaults("corpus", name):
        raise ValueError(f"source {word!r}: {name} takes no path; it must be one of {', '.join(allowed())}")
    if not path:
        raise ValueError(f"source {word!r}: the path after the colon is empty: {name}:PATH")
    return family.resolve("corpus", {"name": name, "path": path})


def allowed() -> list[str]:
    """Every form that `parse` takes."""
    forms = []
    for name in family.members("corpus"):
        settings = family.defaults("corpus", name)
        if "path" not in settings or _optional(settings["path"]):
            forms.append(name)
        if "path" in settings:
            forms.append(f"{name}:PATH")
    return forms


def _optional(default: Any) -> bool:
    return default is not inspect.Parameter.empty
