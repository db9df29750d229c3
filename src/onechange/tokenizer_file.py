"""The files `tokenizer.json` and `tokenizer_config.json`: a learned tokenizer, for others' libraries and us.

`tokenizer.json` is what the library `tokenizers` calls so. `tokenizer_config.json` beside it tells `transformers` how
to load it, and us which member it is, learned under which settings:

    {"tokenizer_class": "PreTrainedTokenizerFast", "clean_up_tokenization_spaces": false,
     "onechange": {"format": 2, "name": "bpe", "version": 1, "settings": {"vocabulary": 4096, …}, "sha256": "…"}}

The checksum is that of `tokenizer.json`, which is written first: files that were not written together are not taken for
a tokenizer. Reading is strict: what is missing, unknown, of the wrong type or of another version is an error that names
the file, never a tokenizer that encodes a little differently.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from onechange import atomic, family, untrusted
from onechange.tokenizer import Tokenizer

FORMAT = 2
NAME, CONFIG = "tokenizer.json", "tokenizer_config.json"


class _Ours(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    format: int
    name: str
    version: int | str
    settings: dict[str, Any]
    sha256: str
    loss: str | None = None
    """Why the tokenizer is not lossless, where that was found out on the text that it was given to learn from."""


class _Config(msgspec.Struct, forbid_unknown_fields=True):
    tokenizer_class: Literal["PreTrainedTokenizerFast"]
    clean_up_tokenization_spaces: Literal[False]
    onechange: _Ours


def save(tokenizer: Tokenizer, resolved: Mapping[str, Any], path: str | os.PathLike[str]) -> None:
    """Write ``tokenizer`` to ``path``, or into the folder ``path``, and `CONFIG` beside it.

    Each file is written whole or not at all; a crash between the two leaves a pair that `load` refuses. ``resolved``:
    the member's name and settings, as `onechange.family.resolve` gives them. The same tokenizer gives the same bytes.
    """
    path = _file(path)
    written = _bytes(tokenizer)
    ours = _Ours(
        format=FORMAT,
        name=resolved["name"],
        version=family.version("tokenizer", resolved["name"]),
        settings={key: value for key, value in resolved.items() if key != "name"},
        sha256=hashlib.sha256(written).hexdigest(),
        loss=tokenizer.loss,
    )
    config = _Config("PreTrainedTokenizerFast", False, ours)
    atomic.write(path, written)
    atomic.write(path.with_name(CONFIG), msgspec.json.format(msgspec.json.encode(config), indent=1) + b"\n")


def keep(tokenizer: Tokenizer, resolved: Mapping[str, Any], path: str | os.PathLike[str]) -> None:
    """`save`, unless a sound pair of files of another tokenizer is there: then a `ValueError`.

    A tokenizer that another version of a library learns differently must not take the place of the one that a model was
    trained with.
    """
    path = _file(path)
    try:
        held = _read(path)[0]
    except (OSError, ValueError):
        held = None
    if held is not None and held != _bytes(tokenizer):
        raise ValueError(
            f"{path}: the tokenizer learned now is another one than the run began with, though text and settings "
            "are the same: go on with the versions of the libraries in environment.json, or choose another --out"
        )
    save(tokenizer, resolved, path)


def load(path: str | os.PathLike[str]) -> Tokenizer:
    """The tokenizer that `save` wrote to ``path``. A `ValueError` says what is wrong with the files."""
    path = _file(path)
    try:
        return _tokenizer(*_read(path))
    except RecursionError:
        raise ValueError(f"{path} is not a tokenizer that can be read: it is nested too deeply") from None
    except (LookupError, ValueError, msgspec.MsgspecError) as error:
        raise ValueError(f"{path} is not a tokenizer that can be read: {error.args[0]}") from None


def _file(path: str | os.PathLike[str]) -> Path:
    path = Path(path)
    return path / NAME if path.is_dir() else path


def _bytes(tokenizer: Tokenizer) -> bytes:
    text = json.dumps(tokenizer.to_json(), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode() + b"\n"


def _read(path: Path) -> tuple[bytes, _Ours]:
    """The content of `NAME`, found to be the one that the `CONFIG` beside it speaks of."""
    written = untrusted.read(path, untrusted.LARGE)
    config = path.with_name(CONFIG)
    if not config.exists():
        raise ValueError(_stranger(path, written))
    try:
        found = msgspec.json.decode(untrusted.read(config, untrusted.SMALL), type=dict[str, Any])
        if "onechange" not in found:
            raise ValueError(_stranger(path, written))
        ours = msgspec.convert(found, _Config).onechange
    except msgspec.MsgspecError as error:
        raise ValueError(f"{CONFIG} beside it: {error}") from None
    if ours.format != FORMAT:
        raise ValueError(f"its format is {ours.format}, this onechange reads format {FORMAT}")
    if hashlib.sha256(written).hexdigest() != ours.sha256:
        raise ValueError(
            f"it is not the file that {CONFIG} beside it was written for (its sha256 is another): "
            "`onechange run --resume` writes both anew"
        )
    return written, ours


def _stranger(path: Path, written: bytes) -> str:
    if written.startswith(b'{"format":1,'):
        return f"its format is 1, this onechange reads format {FORMAT}: learn it anew"
    return (
        f"onechange did not save it: no {CONFIG} beside it says which member it is; to use it all the same, "
        f'tokenizer = {{ name = "pretrained", source = "{path}" }}'
    )


def _tokenizer(written: bytes, ours: _Ours) -> Tokenizer:
    resolved = family.resolve("tokenizer", {**ours.settings, "name": ours.name})
    settings = [key for key in resolved if key != "name"]
    if set(ours.settings) != set(settings):
        raise ValueError(
            f"its settings are {_listed(ours.settings)}, "
            f"those of tokenizer {ours.name!r} are {_listed(settings)}"
        )
    version = family.version("tokenizer", ours.name)
    if ours.version != version:
        raise ValueError(
            f"tokenizer {ours.name!r} had version {ours.version} when it was learned and has {version} "
            "now, which encodes differently: learn it anew"
        )
    tokenizer: Tokenizer = family.build("tokenizer", resolved)
    tokenizer.restore(msgspec.json.decode(written, type=dict[str, Any]))
    tokenizer.loss = ours.loss
    return tokenizer


def _listed(settings: Iterable[str]) -> str:
    return ", ".join(map(repr, settings)) or "none"
