"""Prepared corpora kept on disk: only where settings alone decide the text and making it is slow."""

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

_FORMAT = 1


def place(cache: Path, resolved: Mapping[str, Any], version: int) -> Path:
    """Where ``cache`` keeps what these settings and this version of the source give."""
    key = json.dumps({"format": _FORMAT, "version": version, **resolved}, sort_keys=True)
    return cache / "corpora" / f"{resolved['name']}-{hashlib.sha256(key.encode()).hexdigest()[:32]}.json"


def load(file: Path) -> dict[str, Any] | None:
    """What `keep` wrote, or ``None`` where it is absent or damaged."""
    try:
        content = json.loads(file.read_bytes())
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) else None


def keep(file: Path, content: Mapping[str, Any]) -> None:
    """Write ``content`` as a whole or not at all. A disk that cannot take it is no reason to stop."""
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=file.parent, prefix=file.stem, suffix=".new")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as new:
                json.dump(content, new)
            Path(name).replace(file)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
