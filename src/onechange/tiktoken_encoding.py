"""An encoding of the library `tiktoken` as the content of a `tokenizer.json`.

Its file holds tokens and their ranks, no merges. The two parts of a merge are found again: whatever two tokens the
merges of lower rank leave of the token's bytes. The rank of a token is its id.
"""

import base64
import hashlib
import json
import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from onechange import hugging_face

PREFIX = "tiktoken:"


def encoding(name: str) -> Any:
    """The library's encoding ``name``, from its cache or else from where it fetches it. A `ValueError` if it cannot."""
    where = f"tokenizer.source = '{PREFIX}{name}'"
    try:
        import tiktoken
    except ImportError:
        raise ValueError(
            f"{where} needs the library tiktoken, which is not installed: pip install 'onechange[tokenizers]'"
        ) from None
    known = tiktoken.list_encoding_names()
    if name not in known:
        raise ValueError(f"{where}: tiktoken has no such encoding; there is {', '.join(sorted(known))}")
    try:
        return tiktoken.get_encoding(name)
    except Exception as error:  # of whatever the library fetches with
        raise ValueError(
            f"{where}: it is not in tiktoken's cache {_cache()} (set TIKTOKEN_CACHE_DIR to look elsewhere) "
            f"and cannot be fetched: {type(error).__name__}"
        ) from None


def _cache() -> Path:
    """Where the library looks, as it says in `tiktoken/load.py`."""
    for name in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        if os.environ.get(name):
            return Path(os.environ[name])
    return Path(tempfile.gettempdir()) / "data-gym-cache"


def sha256(found: Any) -> str:
    """Of all that an encoding is: tokens, special tokens, pattern."""
    ranks = {base64.b64encode(token).decode(): rank for token, rank in found._mergeable_ranks.items()}
    text = json.dumps([ranks, found._special_tokens, found._pat_str], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def content(found: Any) -> dict[str, Any]:
    """An encoding, which has one token for every byte, as a `tokenizer.json`."""
    ranks: Mapping[bytes, int] = found._mergeable_ranks
    special: Mapping[str, int] = found._special_tokens
    vocabulary = {_printed(token): rank for token, rank in ranks.items()} | dict(special)
    model = hugging_face.byte_pairs(
        dict(sorted(vocabulary.items(), key=lambda item: item[1])),
        [(_printed(left), _printed(right)) for left, right in merges(ranks)],
    )
    model["ignore_merges"] = True  # as tiktoken: a piece that is a token is that token
    return hugging_face.content(
        model,
        hugging_face.sequence([hugging_face.split(pattern(found._pat_str)), hugging_face.byte_level()]),
        hugging_face.byte_level(),
        special,
    )


def merges(ranks: Mapping[bytes, int]) -> list[tuple[bytes, bytes]]:
    """The merges that make the tokens of ``ranks``, in order. A token that no two others leave has none."""
    found = []
    for token, rank in sorted(ranks.items(), key=lambda item: item[1]):
        splits = [
            (token[:at], token[at:])
            for at in range(1, len(token))
            if ranks.get(token[:at], rank) < rank and ranks.get(token[at:], rank) < rank
        ]
        if len(splits) == 1:
            found += splits
        elif splits:
            parts = _merged(token, ranks, rank)
            if len(parts) == 2:
                found.append((parts[0], parts[1]))
    return found


def _merged(token: bytes, ranks: Mapping[bytes, int], below: int) -> list[bytes]:
    """``token`` after all merges of a rank ``below`` this one, the lowest first, from left to right."""
    parts = [token[at : at + 1] for at in range(len(token))]
    while len(parts) > 1:
        rank, at = min((ranks.get(parts[at] + parts[at + 1], below), at) for at in range(len(parts) - 1))
        if rank >= below:
            break
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
    return parts


def pattern(given: str) -> str:
    """tiktoken's regular expression ``given`` in the syntax of the library `tokenizers`.

    There ``{1,3}+`` would repeat, where here it is greedy for good, which at the end of an alternative is the same; and
    ``$`` would be the end of every line.
    """
    if re.search(r"\{[\d,]+\}\+(?![|)]|$)", given):
        raise ValueError(f"the pattern {given!r} cannot be written for the library tokenizers")
    given = re.sub(r"(\{[\d,]+\})\+", r"\1", given)
    return re.sub(r"(?<!\\)\$", r"(?![\\s\\S])", given)


def _printed(token: bytes) -> str:
    return "".join([hugging_face.BYTES[value] for value in token])
