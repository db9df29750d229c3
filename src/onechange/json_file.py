"""Reading JSON that onechange wrote, so that a damaged file is named instead of failing somewhere else."""

import json
from pathlib import Path
from typing import Any

from onechange import untrusted


def read(path: Path, *needed: str, most: int = untrusted.LARGE) -> dict[str, Any]:
    """The object in the file ``path``, which must have the keys ``needed``; a `ValueError` names a damaged file.

    ``most``: how many bytes it may have.
    """
    return parse(untrusted.read(path, most), str(path), *needed)


def parse(content: bytes, where: str, *needed: str) -> dict[str, Any]:
    """The same of ``content``, found at ``where``."""
    try:
        found = json.loads(content, parse_constant=_refuse)
    except RecursionError:
        raise ValueError(f"{where} is damaged: it is nested too deeply") from None
    except ValueError:
        raise ValueError(f"{where} is damaged: it is not JSON") from None
    if not isinstance(found, dict):
        raise ValueError(f"{where} is damaged: it holds {type(found).__name__}, not an object")
    missing = [key for key in needed if key not in found]
    if missing:
        raise ValueError(f"{where} is damaged: it lacks {', '.join(map(repr, missing))}")
    return found


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is no number")
