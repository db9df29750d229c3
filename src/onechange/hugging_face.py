"""The content of a Hugging Face `tokenizer.json`: what the members of the family `tokenizer` write and read.

Its parts are told in the documentation of the library `tokenizers`, https://huggingface.co/docs/tokenizers. Reading
is strict: a member takes what it needs, then compares all else with what it would have written itself.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

_PRINTED = (*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100))
_OTHERS = [value for value in range(256) if value not in _PRINTED]
BYTES = "".join(chr(value if value in _PRINTED else 256 + _OTHERS.index(value)) for value in range(256))
"""The character that stands for each byte: GPT-2's, of which each leaves ink (Radford et al. 2019,
https://github.com/openai/gpt-2/blob/master/src/encoder.py)."""


def content(
    model: Mapping[str, Any], pre_tokenizer: Mapping[str, Any] | None, decoder: Mapping[str, Any] | None
) -> dict[str, Any]:
    """All parts, in the library's order."""
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": pre_tokenizer,
        "post_processor": None,
        "decoder": decoder,
        "model": model,
    }


def split(pattern: str) -> dict[str, Any]:
    """Text is cut into the matches of the regular expression ``pattern`` and what lies between them."""
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}


def byte_pairs(vocabulary: Mapping[str, int], merges: Sequence[Sequence[str]]) -> dict[str, Any]:
    """A model whose ``merges`` are done in their order, each a left and a right token."""
    return {
        "type": "BPE",
        "dropout": None,
        "unk_token": None,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": False,
        "byte_fallback": False,
        "ignore_merges": False,
        "vocab": dict(vocabulary),
        "merges": [list(pair) for pair in merges],
    }


def byte_level() -> dict[str, Any]:
    """Bytes as the characters of `BYTES`, on the way in or out, without cutting."""
    return {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}


def vocabulary(found: object) -> list[str]:
    """The model's tokens in the order of their ids. A `ValueError` if these are not 0, 1, 2, …"""
    ids = part(found, ("model", "vocab"), dict[str, int])
    if sorted(ids.values()) != list(range(len(ids))):
        raise ValueError(f"model.vocab: its ids are not 0 to {len(ids) - 1}, each once")
    return sorted(ids, key=ids.__getitem__)


def part(found: object, path: tuple[str, ...], kind: Any) -> Any:
    """What stands at ``path``; a `ValueError` if it is not there or not of the ``kind``."""
    for depth, key in enumerate(path):
        if not isinstance(found, dict) or key not in found:
            raise ValueError(f"{'.'.join(path[: depth + 1])} is missing")
        found = found[key]
    try:
        return msgspec.convert(found, kind)
    except msgspec.ValidationError as error:
        raise ValueError(f"{'.'.join(path)}: {error}") from None


def agree(found: Any, expected: Any, path: tuple[str, ...] = ()) -> None:
    """Raise a `ValueError` that names the first place where ``found`` is not ``expected``, true apart from 1."""
    place = ".".join(path) or "the content"
    if isinstance(expected, dict) and isinstance(found, dict):
        for key in expected:
            if key not in found:
                raise ValueError(f"{'.'.join((*path, key))} is missing")
            agree(found[key], expected[key], (*path, key))
        surplus = [key for key in found if key not in expected]
        if surplus:
            raise ValueError(f"{place} has the unknown key {surplus[0]!r}")
    elif json.dumps(found) != json.dumps(expected):
        raise ValueError(f"{place} is {_short(found)}, not {_short(expected)}")


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:80]}…"
