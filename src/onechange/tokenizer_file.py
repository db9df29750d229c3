"""The file `tokenizer.json`: a learned tokenizer with the settings that it was learned under.

    {"format": 1, "name": "bpe", "version": 1, "settings": {"vocabulary": 4096, …}, "state": {…}}

The state is `Tokenizer.to_json`. Reading is strict: what is missing, unknown, of the wrong type or of another
version is an error that names the file, never a tokenizer that encodes a little differently.
"""

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from onechange import atomic, family, untrusted
from onechange.tokenizer import Tokenizer

FORMAT = 1


class _Content(msgspec.Struct, forbid_unknown_fields=True):
    format: int
    name: str
    version: int
    settings: dict[str, Any]
    state: dict[str, Any]


def save(tokenizer: Tokenizer, resolved: Mapping[str, Any], path: str | os.PathLike[str]) -> None:
    """Write ``tokenizer`` to ``path``: all of it or, if anything goes wrong, nothing.

    ``resolved``: its member's name and settings, as `onechange.family.resolve` gives them. The same tokenizer
    gives the same bytes.
    """
    content = {
        "format": FORMAT,
        "name": resolved["name"],
        "version": tokenizer.version,
        "settings": {key: value for key, value in resolved.items() if key != "name"},
        "state": tokenizer.to_json(),
    }
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"
    atomic.write(Path(path), text)


def load(path: str | os.PathLike[str]) -> Tokenizer:
    """The tokenizer that `save` wrote to ``path``. A `ValueError` says what is wrong with the file."""
    path = Path(path)
    written = untrusted.read(path, untrusted.LARGE)
    try:
        return _tokenizer(msgspec.json.decode(written, type=_Content))
    except RecursionError:
        raise ValueError(f"{path} is not a tokenizer that can be read: it is nested too deeply") from None
    except (LookupError, ValueError, msgspec.MsgspecError) as error:
        raise ValueError(f"{path} is not a tokenizer that can be read: {error.args[0]}") from None


def _tokenizer(content: _Content) -> Tokenizer:
    if content.format != FORMAT:
        raise ValueError(f"its format is {content.format}, this onechange reads format {FORMAT}")
    resolved = family.resolve("tokenizer", {**content.settings, "name": content.name})
    settings = [key for key in resolved if key != "name"]
    if set(content.settings) != set(settings):
        raise ValueError(
            f"its settings are {_listed(content.settings)}, "
            f"those of tokenizer {content.name!r} are {_listed(settings)}"
        )
    version = family.version("tokenizer", content.name)
    if content.version != version:
        raise ValueError(
            f"tokenizer {content.name!r} had version {content.version} when it was learned and has {version} "
            "now, which encodes differently: learn it anew"
        )
    tokenizer: Tokenizer = family.build("tokenizer", resolved)
    tokenizer.restore(content.state)
    return tokenizer


def _listed(settings: Iterable[str]) -> str:
    return ", ".join(map(repr, settings)) or "none"
