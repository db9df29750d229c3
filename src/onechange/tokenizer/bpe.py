"""Frequent neighbours become one token: byte-pair encoding, on characters.

Text is cut into pieces: runs of letters, of digits, of other non-space characters, of whitespace. Every
character of the alphabet is a token; then, until the vocabulary is full, the pair of tokens that stands side
by side most often within the pieces becomes a token of its own, among equals the lexicographically greatest.
New text is cut the same way and the same merges are done in the same order.

Gage, "A New Algorithm for Data Compression" (1994); Sennrich, Haddow and Birch, "Neural Machine Translation
of Rare Words with Subword Units" (2016), https://arxiv.org/abs/1508.07909.
"""

import re
from collections import Counter
from collections.abc import Iterable
from itertools import chain
from typing import Any, Literal, final

import numpy as np

from onechange import hugging_face, merges
from onechange.alphabet import Alphabet
from onechange.tokenizer import Tokenizer

PIECE = re.compile(r"[^\W\d_]+|\d+|\s+|(?:[^\w\s]|_)+")
"""Letters, digits, whitespace and the rest, as `re` sees Unicode: every character is in one of the four.

Letters are what ``\\w`` holds besides decimal digits and the underscore (so a few numerals such as ``½`` are
among them); the underscore, punctuation, symbols and combining marks are the rest."""

SPLIT = r"[\p{L}\p{Nl}\p{No}]+|\p{Nd}+|[\s\x1c-\x1f]+|[^\p{L}\p{Nl}\p{No}\p{Nd}\s\x1c-\x1f]+"
"""The same for the library `tokenizers`."""

MOST_REMEMBERED = 1 << 17
"""How many pieces with their ids are remembered before `Bpe.encode` begins anew."""

MOST_CHARACTERS = 1 << 26
"""Of all tokens together: every merge can double a token's length, so a short file could fill any memory."""


@final
class Bpe(Tokenizer):
    """The alphabet's characters, in code-point order, have the first ids; merges follow in the order learned.

    ``vocabulary``: how many tokens to learn. Text in which everything is merged before that ends early:
    `vocabulary_size` says how many there are, `remarks` says it in words. ``learn_from``: see `Tokenizer`.
    """

    def __init__(
        self, *, vocabulary: int = 4096, learn_from: Literal["training", "all"] = "training"
    ) -> None:
        if vocabulary < 1:
            raise ValueError(f"tokenizer 'bpe': vocabulary = {vocabulary}: must be at least 1")
        if learn_from not in ("training", "all"):
            raise ValueError(f"tokenizer 'bpe': learn_from = {learn_from!r}: must be 'training' or 'all'")
        self.vocabulary = vocabulary
        self.learn_from = learn_from
        self._alphabet: Alphabet | None = None
        self._merges: list[tuple[str, str]] = []
        self._tokens: list[str] = []
        self._merged: dict[merges.Pair, int] = {}
        self._remembered: dict[str, list[int]] = {}

    def learn(self, documents: Iterable[str], alphabet: str) -> None:
        known = self._fitting(alphabet)
        counts: Counter[str] = Counter()
        for document in documents:
            counts.update(PIECE.findall(document))
        if not set(alphabet).issuperset(set().union(*counts)):
            for piece in counts:
                known.ids(piece)  # names the characters
        self._set(known, merges.learn(counts, alphabet, self.vocabulary - len(known)))

    @property
    def vocabulary_size(self) -> int:
        return len(self._tokens)

    @property
    def merges(self) -> list[tuple[str, str]]:
        """The pairs of tokens that became tokens, in the order learned."""
        return list(self._merges)

    def encode(self, text: str) -> np.ndarray:
        assert self._alphabet is not None, "learn or restore comes first"
        if len(self._remembered) > MOST_REMEMBERED:
            self._remembered.clear()
        pieces = PIECE.findall(text)
        unseen = set(pieces).difference(self._remembered)
        if unseen:
            self._alphabet.ids(text)  # an error gives places in the whole text
        for piece in unseen:
            self._remembered[piece] = merges.apply(self._alphabet.ids(piece).tolist(), self._merged)
        return np.fromiter(chain.from_iterable(map(self._remembered.__getitem__, pieces)), dtype=np.int32)

    def token_bytes(self) -> list[bytes]:
        return [token.encode() for token in self._tokens]

    def remarks(self) -> list[str]:
        found = []
        if self.vocabulary_size < self.vocabulary:
            found.append(
                f"the vocabulary ends at {self.vocabulary_size} of {self.vocabulary} tokens: "
                "in the text learned from, no two tokens are left to merge"
            )
        if self.learn_from == "all":
            found.append("merges were learned from all text, validation text too")
        return found

    def to_json(self) -> dict[str, Any]:
        assert self._alphabet is not None, "learn or restore comes first"
        ids = {token: number for number, token in enumerate(self._tokens)}
        model = hugging_face.byte_pairs(ids, self._merges)
        return hugging_face.content(model, hugging_face.split(SPLIT), {"type": "Fuse"})

    def restore(self, content: dict[str, Any]) -> None:
        tokens = hugging_face.vocabulary(content)
        pairs = hugging_face.part(content, ("model", "merges"), list[tuple[str, str]])
        known = self._fitting("".join(tokens[: max(0, len(tokens) - len(pairs))]))
        if len(known) + len(pairs) > self.vocabulary:
            raise ValueError(
                f"{len(known)} characters and {len(pairs)} merges are more than "
                f"the vocabulary of {self.vocabulary}"
            )
        self._set(known, pairs)
        hugging_face.agree(content, self.to_json())

    def _fitting(self, alphabet: str) -> Alphabet:
        if len(alphabet) > self.vocabulary:
            raise ValueError(
                f"tokenizer 'bpe': vocabulary = {self.vocabulary} is smaller than the alphabet of "
                f"{len(alphabet)} characters; ask for at least {len(alphabet)}"
            )
        return Alphabet(alphabet)

    def _set(self, alphabet: Alphabet, pairs: list[tuple[str, str]]) -> None:
        ids = {character: number for number, character in enumerate(alphabet.characters)}
        merged: dict[merges.Pair, int] = {}
        characters = 0
        for number, (left, right) in enumerate(pairs):
            if left not in ids or right not in ids:
                unknown = left if left not in ids else right
                raise ValueError(
                    f"merge {number} joins {left!r} and {right!r}, but no token {unknown!r} comes before it"
                )
            characters += len(left) + len(right)
            if characters > MOST_CHARACTERS:
                raise ValueError(
                    f"merge {number} makes the tokens longer than {MOST_CHARACTERS:,} characters in all"
                )
            if left + right in ids:
                raise ValueError(f"merge {number} makes {left + right!r}, which is a token already")
            merged[ids[left], ids[right]] = ids[left + right] = len(ids)
        self._alphabet, self._merges, self._merged = alphabet, pairs, merged
        self._tokens = list(ids)
        self._remembered = {}
