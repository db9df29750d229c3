"""Prepared corpora kept on disk: only where settings alone decide the text and making it is slow."""

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from onechange import atomic

_FORMAT = 1


def place(cache: Path, resolved: Mapping[str, Any], version: int | str, identity: Mapping[str, Any]) -> Path:
    """Where ``cache`` keeps what these settings, version and identity of the source give."""
    content = {"format": _FORMAT, "version": version, "identity": identity, "settings": resolved}
    key = json.dumps(content, sort_keys=True)
    return cache / "corpora" / f"{resolved['name']}-{hashlib.sha256(key.encode()).hexdigest()[:32]}.json"


def load(file: Path) -> dict[str, Any] | None:
    """What `keep` wrote, or ``None`` where it is absent or damaged."""
    try:
        mark, _, content = file.read_bytes().partition(b"\n")
    except OSError:
        return None
    return json.loads(content) if mark.decode("latin-1") == hashlib.sha256(content).hexdigest() else None


def keep(file: Path, content: Mapping[str, Any]) -> None:
    """Write ``content`` as a whole or not at all. A disk that cannot take it is no reason to stop."""
    text = json.dumps(content).encode()
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=file.parent, prefix=file.stem, suffix=".new")
        try:
            with os.fdopen(handle, "wb") as new:
                new.write(hashlib.sha256(text).hexdigest().encode() + b"\n" + text)
            atomic.replace(Path(name), file)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
