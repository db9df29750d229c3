"""Frequent neighbours become one token: byte-pair encoding, on characters.

Text is cut into pieces, by default runs of letters, of digits, of white space and of all else. Every character of
the alphabet is a token; then, until the vocabulary is full, the pair of tokens that stands side by side most often
within the pieces becomes a token of its own, among equals the lexicographically greatest. New text is cut the same
way and the same merges are done in the same order.

Gage, "A New Algorithm for Data Compression" (1994); Sennrich, Haddow and Birch, "Neural Machine Translation
of Rare Words with Subword Units" (2016), https://arxiv.org/abs/1508.07909.
"""

from collections.abc import Iterable
from typing import Any, Literal, final

import numpy as np

from onechange import hugging_face, pair_encoding, utf8
from onechange.alphabet import Alphabet
from onechange.pair_encoding import PairEncoding
from onechange.pieces import Digits, Pieces, Space
from onechange.symbols import Characters
from onechange.tokenizer import Tokenizer


@final
class Bpe(Tokenizer):
    """The alphabet's characters, in code-point order, have the first ids; merges follow in the order learned.

    ``vocabulary``: how many tokens to learn. Text in which everything is merged before that ends early:
    `vocabulary_size` says how many there are, `remarks` says it in words. ``learn_from``: see `Tokenizer`. ``split``,
    ``digits`` and ``space``: how text is cut, see `onechange.pieces`.
    """

    version = 2

    def __init__(
        self,
        *,
        vocabulary: int = 4096,
        learn_from: Literal["training", "all"] = "training",
        split: str = "classes",
        digits: Digits = "pattern",
        space: Space = "pattern",
    ) -> None:
        pair_encoding.check("bpe", vocabulary, learn_from)
        self.vocabulary = vocabulary
        self.learn_from = learn_from
        self.split, self.digits, self.space = split, digits, space
        self._pieces = Pieces(split, digits, space)
        self._alphabet: Alphabet | None = None
        self._tokens: list[bytes] = []
        self._merges: list[tuple[bytes, bytes]] = []
        self._encoding: PairEncoding | None = None

    def learn(self, documents: Iterable[str], alphabet: str) -> None:
        known = self._fitting(alphabet)
        symbols, number = Characters(known), self.vocabulary - len(known)
        merges = pair_encoding.learn(map(utf8.encoded, documents), symbols, self._pieces, number)
        self._set(known, merges)

    @property
    def vocabulary_size(self) -> int:
        return len(self._tokens)

    @property
    def merges(self) -> list[tuple[str, str]]:
        """The pairs of tokens that became tokens, in the order learned."""
        return [(left.decode(), right.decode()) for left, right in self._merges]

    def encode(self, text: str) -> np.ndarray:
        assert self._encoding is not None and self._alphabet is not None, "learn or restore comes first"
        try:
            return self._encoding.encode([utf8.encoded(text)])
        except ValueError:
            self._alphabet.ids(text)  # its error gives places in the whole text
            raise

    def token_bytes(self) -> list[bytes]:
        return list(self._tokens)

    def remarks(self) -> list[str]:
        return pair_encoding.remarks(self._tokens, self.vocabulary, self.learn_from)

    def to_json(self) -> dict[str, Any]:
        assert self._alphabet is not None, "learn or restore comes first"
        ids = {token.decode(): number for number, token in enumerate(self._tokens)}
        model = hugging_face.byte_pairs(ids, self.merges)
        return hugging_face.content(model, hugging_face.split(self._pieces.regex), {"type": "Fuse"})

    def restore(self, content: dict[str, Any]) -> None:
        tokens = hugging_face.vocabulary(content)
        pairs = hugging_face.part(content, ("model", "merges"), list[tuple[str, str]])
        known = self._fitting("".join(tokens[: max(0, len(tokens) - len(pairs))]))
        if len(known) + len(pairs) > self.vocabulary:
            raise ValueError(
                f"{len(known)} characters and {len(pairs)} merges are more than "
                f"the vocabulary of {self.vocabulary}"
            )
        self._set(known, [(utf8.encoded(left), utf8.encoded(right)) for left, right in pairs])
        hugging_face.agree(content, self.to_json())

    def _fitting(self, alphabet: str) -> Alphabet:
        if len(alphabet) > self.vocabulary:
            raise ValueError(
                f"tokenizer 'bpe': vocabulary = {self.vocabulary} is smaller than the alphabet of "
                f"{len(alphabet)} characters; ask for at least {len(alphabet)}"
            )
        return Alphabet(alphabet)

    def _set(self, alphabet: Alphabet, merges: list[tuple[bytes, bytes]]) -> None:
        symbols = Characters(alphabet)
        tokens = [*symbols.tokens, *(left + right for left, right in merges)]
        self._encoding = PairEncoding(symbols, self._pieces, tokens, merges)
        self._alphabet, self._tokens, self._merges = alphabet, tokens, merges
