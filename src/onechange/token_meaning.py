"""What the tokens of any `tokenizer.json` stand for, in bytes.

Libraries write a token as text that leaves ink: a space as "▁" or "Ġ", a byte as "<0xE4>" or one of 256 characters, the
inside of a word as "##ing". Which of these a tokenizer means, its decoder says.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from onechange import hugging_face

MOST_IDS = 1 << 22
"""More than any tokenizer has: a table of what every id stands for must fit into memory."""

_BYTE = re.compile(r"<0x([0-9A-Fa-f]{2})>")
_VALUES = {character: value for value, character in enumerate(hugging_face.BYTES)}


def check(tokens: Mapping[str, int]) -> None:
    """Raise a `ValueError` if there are no ``tokens`` or their ids go too far."""
    last = max(tokens.values(), default=-1)
    if not 0 <= last < MOST_IDS:
        raise ValueError(f"its ids go up to {last:,}: there must be at least one, and at most {MOST_IDS:,}")


def token_bytes(content: Mapping[str, Any], tokens: Mapping[str, int]) -> list[bytes]:
    """What every id stands for, empty for one that no token has.

    ``content``: that of the file. ``tokens``: all tokens and their ids, which `check` has found to be fit.
    """
    size = max(tokens.values()) + 1
    literal = {added["content"] for added in content["added_tokens"]}
    meaning = _meaning(list(_steps(content)))
    found = [b""] * size
    for token, number in tokens.items():
        found[number] = token.encode() if token in literal else meaning(token)
    return found


def unknown(model: Mapping[str, Any]) -> str | None:
    """The token that stands for what has none, if there is one."""
    if model.get("unk_id") is not None:
        return model["vocab"][model["unk_id"]][0]
    return model.get("unk_token")


def _steps(content: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    """The decoder, taken apart."""
    if content["decoder"] is not None:
        yield from _parts(content["decoder"], "decoders")
    elif content["pre_tokenizer"] is not None:  # what writes bytes as characters means bytes by characters
        parts = _parts(content["pre_tokenizer"], "pretokenizers")
        yield from (part for part in parts if part["type"] == "ByteLevel")


def _parts(whole: Mapping[str, Any], key: str) -> Iterable[Mapping[str, Any]]:
    if whole["type"] != "Sequence":
        yield whole
        return
    for part in whole[key]:
        yield from _parts(part, key)


def _meaning(steps: list[Mapping[str, Any]]) -> Callable[[str], bytes]:
    kinds = {step["type"] for step in steps}
    replaced: list[tuple[str, str]] = []
    prefix = ""
    for step in steps:
        if step["type"] == "Metaspace":
            replaced.append((step["replacement"], " "))
        elif step["type"] == "BPEDecoder":
            replaced.append((step["suffix"], " "))
        elif step["type"] == "Replace" and step["pattern"].get("String"):
            replaced.append((step["pattern"]["String"], step["content"]))
        elif step["type"] == "WordPiece":
            prefix = step["prefix"]

    def meaning(token: str) -> bytes:
        if "ByteFallback" in kinds and (byte := _BYTE.fullmatch(token)):
            return bytes([int(byte[1], 16)])
        for old, new in replaced:
            token = token.replace(old, new)
        token = token.removeprefix(prefix)
        if "ByteLevel" not in kinds or not set(token).issubset(_VALUES):
            return token.encode()
        return bytes([_VALUES[character] for character in token])

    return meaning
