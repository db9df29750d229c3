"""The tokens that make a text likeliest: a unigram language model.

Every token has a probability of its own; of all the ways to cut a text into tokens the one with the greatest product of
probabilities is taken. Learning starts from very many candidates, fits their probabilities to the text and takes out
those that it misses least, again and again, until few enough are left: byte-pair encoding grows, this shrinks.

Kudo, "Subword Regularization: Improving Neural Network Translation Models with Multiple Subword Candidates" (2018),
https://arxiv.org/abs/1804.10959.
"""

from collections.abc import Iterable
from itertools import chain
from typing import Any, Literal, final

import numpy as np

from onechange import counting, hugging_face, pair_encoding, peer_library, unigram_learning, utf8
from onechange.alphabet import Alphabet
from onechange.pieces import Digits, Pieces, Space
from onechange.tokenizer import Tokenizer

MOST_REMEMBERED = 1 << 17
"""How many pieces with their ids are remembered before `Unigram.encode` begins anew."""


@final
class Unigram(Tokenizer):
    """The alphabet's characters, in code-point order, have the first ids; longer tokens follow, the likeliest first.

    ``vocabulary``: how many tokens to learn. Text that gives fewer candidates ends with those: `vocabulary_size` says
    how many there are, `remarks` says it in words. ``learn_from``: see `Tokenizer`. ``split``, ``digits`` and
    ``space``: how text is cut, see `onechange.pieces`. The library `tokenizers` learns and encodes.
    """

    def __init__(
        self,
        *,
        vocabulary: int = 4096,
        learn_from: Literal["training", "all"] = "training",
        split: str = "classes",
        digits: Digits = "pattern",
        space: Space = "pattern",
    ) -> None:
        pair_encoding.check("unigram", vocabulary, learn_from)
        self.vocabulary = vocabulary
        self.learn_from = learn_from
        self.split, self.digits, self.space = split, digits, space
        self._pieces = Pieces(split, digits, space)
        self._alphabet: Alphabet | None = None
        self._scores: dict[str, float] = {}
        self._encoder: Any = None
        self._remembered: dict[str, list[int]] = {}

    def learn(self, documents: Iterable[str], alphabet: str) -> None:
        known = self._fitting(alphabet)
        counts = counting.count(map(utf8.encoded, documents), self._pieces)
        self._set(known, unigram_learning.learn(counts, known, self.vocabulary))

    @property
    def vocabulary_size(self) -> int:
        return len(self._scores)

    @property
    def scores(self) -> dict[str, float]:
        """The log-probability of every token in nats."""
        return dict(self._scores)

    def encode(self, text: str) -> np.ndarray:
        assert self._alphabet is not None, "learn or restore comes first"
        self._alphabet.ids(text)  # its error names characters that no token holds
        if len(self._remembered) > MOST_REMEMBERED:
            self._remembered.clear()
        pieces = self._pieces.cut(text)
        for piece in set(pieces).difference(self._remembered):
            self._remembered[piece] = self._encoder.encode(piece, add_special_tokens=False).ids
        ids = chain.from_iterable(map(self._remembered.__getitem__, pieces))
        return np.fromiter(ids, dtype=np.int32)

    def token_bytes(self) -> list[bytes]:
        return [token.encode() for token in self._scores]

    def remarks(self) -> list[str]:
        found = []
        if self.vocabulary_size < self.vocabulary:
            found.append(
                f"the vocabulary ends at {self.vocabulary_size} of {self.vocabulary} tokens: "
                "the text learned from has no more candidates that it would use"
            )
        if self.learn_from == "all":
            found.append("tokens were learned from all text, validation text too")
        return found

    def to_json(self) -> dict[str, Any]:
        assert self._alphabet is not None, "learn or restore comes first"
        model = {
            "type": "Unigram",
            "unk_id": None,
            "vocab": [[token, score] for token, score in self._scores.items()],
            "byte_fallback": False,
        }
        return hugging_face.content(model, hugging_face.split(self._pieces.regex), {"type": "Fuse"})

    def restore(self, content: dict[str, Any]) -> None:
        pairs = hugging_face.part(content, ("model", "vocab"), list[tuple[str, float]])
        scores = dict(pairs)
        if len(scores) < len(pairs) or "" in scores:
            raise ValueError("model.vocab: its tokens must differ, and none may be empty")
        if len(scores) > self.vocabulary:
            raise ValueError(f"{len(scores)} tokens are more than the vocabulary of {self.vocabulary}")
        self._set(self._fitting("".join(token for token in scores if len(token) == 1)), scores)
        hugging_face.agree(content, self.to_json())

    def _fitting(self, alphabet: str) -> Alphabet:
        if len(alphabet) > self.vocabulary:
            raise ValueError(
                f"tokenizer 'unigram': vocabulary = {self.vocabulary} is smaller than the alphabet of "
                f"{len(alphabet)} characters; ask for at least {len(alphabet)}"
            )
        return Alphabet(alphabet)

    def _set(self, alphabet: Alphabet, scores: dict[str, float]) -> None:
        for number, token in enumerate(scores):
            if (len(token) == 1) != (number < len(alphabet)):
                raise ValueError(f"model.vocab: the token {token!r}: all single characters must come first")
            alphabet.ids(token)
        self._alphabet, self._scores = alphabet, scores
        self._remembered = {}
        self._encoder = peer_library.encoder("tokenizer 'unigram'", {**self.to_json(), "pre_tokenizer": None})
