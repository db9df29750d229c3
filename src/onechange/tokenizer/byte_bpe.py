"""Frequent neighbours become one token: byte-pair encoding, on the bytes of UTF-8.

As `bpe`, but a text is made of its 256 bytes, so that every text can be written, and a token may be part of a
character. Text is cut as GPT-2 cuts it unless told otherwise: a word, a number or a run of signs takes the space
before it. Special tokens are found before anything is cut: each is one token, and nothing is merged across it.

Radford et al., "Language Models are Unsupervised Multitask Learners" (2019),
https://cdn.openai.com/better-language-models/language_models_are_unsupervised_multitask_learners.pdf.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, final

import numpy as np

from onechange import hugging_face, pair_encoding, stream_encoding, utf8
from onechange.pair_encoding import PairEncoding
from onechange.pieces import Digits, Pieces, Space
from onechange.special_tokens import SpecialTokens
from onechange.symbols import BYTES, Bytes
from onechange.tokenizer import Tokenizer


@final
class ByteBpe(Tokenizer):
    """The bytes have the ids 0 to 255; merges follow in the order learned, then the special tokens.

    ``vocabulary``: how many tokens to learn, bytes and special tokens among them. ``special_tokens``: texts that are
    one token each; of two that begin at the same place the longer is taken. The rest is as in `bpe`.
    """

    def __init__(
        self,
        *,
        vocabulary: int = 4096,
        learn_from: Literal["training", "all"] = "training",
        split: str = "gpt2",
        digits: Digits = "pattern",
        space: Space = "pattern",
        special_tokens: tuple[str, ...] = (),
    ) -> None:
        pair_encoding.check("byte_bpe", vocabulary, learn_from)
        least = BYTES + len(special_tokens)
        if vocabulary < least:
            raise ValueError(
                f"tokenizer 'byte_bpe': vocabulary = {vocabulary}: must be at least {least}: {BYTES} bytes"
                + (f" and {len(special_tokens)} special tokens" if special_tokens else "")
            )
        self.vocabulary = vocabulary
        self.learn_from = learn_from
        self.special_tokens = special_tokens
        self._special = SpecialTokens(special_tokens)
        self.split, self.digits, self.space = split, digits, space
        self._pieces = Pieces(split, digits, space)
        self._special_ids: dict[str, int] = {}
        self._tokens: list[bytes] = []
        self._merges: list[tuple[bytes, bytes]] = []
        self._encoding: PairEncoding | None = None

    @classmethod
    def of(
        cls,
        tokens: Mapping[int, bytes],
        merges: Sequence[tuple[bytes, bytes]],
        *,
        special_tokens: Sequence[str] = (),
        split: str = "gpt2",
    ) -> "ByteBpe":
        """A tokenizer whose tokens and merges were learned elsewhere.

        ``tokens``: what every id stands for, special tokens too; those that have no id yet get the next ones. A
        `ValueError` names what does not fit together.
        """
        listed = [tokens[number] for number in sorted(tokens)]
        if sorted(tokens) != list(range(len(tokens))):
            raise ValueError(f"tokens: the ids must be 0 to {len(tokens) - 1}, each once")
        listed += [text.encode() for text in special_tokens if text.encode() not in listed]
        made = cls(vocabulary=len(listed), split=split, special_tokens=tuple(special_tokens))
        made._set(listed, list(merges))
        return made

    def learn(self, documents: Iterable[str], alphabet: str = "") -> None:
        stretches = (
            utf8.encoded(stretch)
            for document in documents
            for stretch in self._special.parts(document)[::2]
            if stretch
        )
        number = self.vocabulary - BYTES - len(self._special.texts)
        merges = pair_encoding.learn(stretches, Bytes(), self._pieces, number)
        merged = [left + right for left, right in merges]
        self._set([*Bytes().tokens, *merged, *(text.encode() for text in self._special.texts)], merges)

    @property
    def vocabulary_size(self) -> int:
        return len(self._tokens)

    @property
    def merges(self) -> list[tuple[bytes, bytes]]:
        """The pairs of tokens that became tokens, in the order learned."""
        return list(self._merges)

    def encode(self, text: str) -> np.ndarray:
        assert self._encoding is not None, "learn or restore comes first"
        return self._encode(text, self._encoding)

    def encode_iterable(self, texts: Iterable[str]) -> Iterator[int]:
        """The ids of ``texts`` put together, one after the other, in memory that does not grow with them.

        A ``split`` of one's own does not say how far a match looks ahead: then all of it is read first.
        """
        assert self._encoding is not None, "learn or restore comes first"
        small = self._encoding.remembering(stream_encoding.REMEMBERED)
        for text in stream_encoding.settled(texts, self._pieces, self._special):
            yield from self._encode(text, small).tolist()

    def token_bytes(self) -> list[bytes]:
        return list(self._tokens)

    def remarks(self) -> list[str]:
        return pair_encoding.remarks(self._tokens, self.vocabulary, self.learn_from)

    def to_json(self) -> dict[str, Any]:
        assert self._encoding is not None, "learn or restore comes first"
        specials = {number: text for text, number in self._special_ids.items()}
        ids = {specials.get(number) or _printed(token): number for number, token in enumerate(self._tokens)}
        model = hugging_face.byte_pairs(
            ids, [(_printed(left), _printed(right)) for left, right in self._merges]
        )
        return hugging_face.content(
            model,
            hugging_face.sequence([hugging_face.split(self._pieces.regex), hugging_face.byte_level()]),
            hugging_face.byte_level(),
            self._special_ids,
        )

    def restore(self, content: dict[str, Any]) -> None:
        pairs = hugging_face.part(content, ("model", "merges"), list[tuple[str, str]])
        special = set(self._special.texts)
        tokens = [
            token.encode() if token in special else _bytes(token)
            for token in hugging_face.vocabulary(content)
        ]
        if len(tokens) > self.vocabulary:
            raise ValueError(f"{len(tokens)} tokens are more than the vocabulary of {self.vocabulary}")
        self._set(tokens, [(_bytes(left), _bytes(right)) for left, right in pairs])
        hugging_face.agree(content, self.to_json())

    def _encode(self, text: str, encoding: PairEncoding) -> np.ndarray:
        parts = self._special.parts(text)
        if len(parts) == 1:
            return encoding.encode([utf8.encoded(text)])
        found = [
            np.array([self._special_ids[part]], dtype=np.int32)
            if number % 2
            else encoding.encode([utf8.encoded(part)])
            for number, part in enumerate(parts)
        ]
        return np.concatenate(found)

    def _set(self, tokens: list[bytes], merges: list[tuple[bytes, bytes]]) -> None:
        ids = {token: number for number, token in enumerate(tokens)}
        special_ids = {}
        for text in self._special.texts:
            if text.encode() not in ids:
                raise ValueError(f"the special token {text!r} has no id")
            special_ids[text] = ids[text.encode()]
        missing = [value for value in range(BYTES) if bytes([value]) not in ids]
        if missing:
            raise ValueError(f"the byte 0x{missing[0]:02x} has no id")
        symbols = Bytes([ids[bytes([value])] for value in range(BYTES)])
        self._encoding = PairEncoding(symbols, self._pieces, tokens, merges)
        self._tokens, self._merges, self._special_ids = tokens, merges, special_ids


def _printed(token: bytes) -> str:
    return "".join([hugging_face.BYTES[value] for value in token])


_VALUES = {character: value for value, character in enumerate(hugging_face.BYTES)}


def _bytes(token: str) -> bytes:
    try:
        return bytes([_VALUES[character] for character in token])
    except KeyError as error:
        raise ValueError(f"the token {token!r}: {error.args[0]!r} stands for no byte") from None
