"""A tokenizer that someone else has learned: any `tokenizer.json`, or an encoding of tiktoken.

Nothing is learned. The text is only read to find out whether the tokenizer gives every story back: many of them alter
what they read, and of a text that is not the text there are no nats per character.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar, final

import numpy as np

from onechange import (
    hugging_face,
    json_file,
    lost_text,
    peer_library,
    tiktoken_encoding,
    token_meaning,
    untrusted,
)
from onechange.tokenizer import Tokenizer

LEFT_OUT = ("truncation", "padding", "post_processor")
"""Parts of a file that shorten a text or put something to it."""


@final
class Pretrained(Tokenizer):
    """``source``: a `tokenizer.json`, a folder that holds one (a run's, for instance), or ``tiktoken:NAME`` for one of
    tiktoken's encodings (`gpt2`, `cl100k_base`, …). ``sha256``: of the file, or of all that the encoding is; empty: of
    whatever is there when the study begins, which is then written into the recipe. Another one is an error.

    Tokens such as ``[CLS]``, which some tokenizers put around a text, are not put there. The library `tokenizers`
    encodes.
    """

    places: ClassVar[tuple[str, ...]] = ("source",)

    def __init__(self, *, source: str, sha256: str = "") -> None:
        if not source:
            raise ValueError("tokenizer.source is empty: it must be a tokenizer.json or 'tiktoken:NAME'")
        self.source = source
        self.sha256 = sha256
        self._encoder: Any = None
        self._tokens: list[bytes] = []
        self._unknown: str | None = None

    @classmethod
    def pinned(cls, resolved: Mapping[str, Any]) -> dict[str, Any]:
        return {**resolved, "sha256": resolved["sha256"] or _read(resolved["source"])[0]}

    def learn(self, documents: Iterable[str], alphabet: str) -> None:
        where = f"tokenizer.source = {self.source!r}"
        found, content = _read(self.source)
        if self.sha256 not in ("", found):
            raise ValueError(
                f"{where} is another one now: its sha256 is {found}, the recipe says {self.sha256}"
            )
        try:
            self._set({**content, **dict.fromkeys(LEFT_OUT)})
        except ValueError as error:
            raise ValueError(f"{where}: {error.args[0]}") from None
        reasons = map(self._why, chain(documents, [alphabet]))
        self.loss = next(filter(None, reasons), None)

    @property
    def vocabulary_size(self) -> int:
        return len(self._tokens)

    def encode(self, text: str) -> np.ndarray:
        assert self._encoder is not None, "learn or restore comes first"
        return np.array(peer_library.encode(self._encoder, text), dtype=np.int32)

    def token_bytes(self) -> list[bytes]:
        return list(self._tokens)

    def remarks(self) -> list[str]:
        return ["it was learned elsewhere, from text that is not known here"]

    def to_json(self) -> dict[str, Any]:
        assert self._encoder is not None, "learn or restore comes first"
        return json.loads(self._encoder.to_str())

    def restore(self, content: dict[str, Any]) -> None:
        self._set(content)
        expected = {**self.to_json(), **dict.fromkeys(LEFT_OUT)}
        if content != expected:
            hugging_face.agree(content, expected)  # says where

    def _set(self, content: Mapping[str, Any]) -> None:
        encoder = peer_library.encoder("tokenizer 'pretrained'", content)
        tokens = encoder.get_vocab(with_added_tokens=True)
        token_meaning.check(tokens)  # the library writes down every id that is missing, however many
        read = json.loads(encoder.to_str())
        self._tokens = token_meaning.token_bytes(read, tokens)
        self._unknown = token_meaning.unknown(read["model"])
        self._encoder = encoder

    def _why(self, text: str) -> str | None:
        """Why ``text`` is lost, if it is."""
        try:
            ids = self.encode(text)
        except ValueError as error:
            return f"it cannot write {lost_text.short(text)}: {error.args[0]}"
        found = b"".join([self._tokens[number] for number in ids.tolist()])
        return (
            None
            if found == text.encode()
            else lost_text.why(text, found.decode(errors="replace"), self._unknown)
        )


def _read(source: str) -> tuple[str, dict[str, Any]]:
    """The SHA-256 of what ``source`` names, and its content as a `tokenizer.json`."""
    if source.startswith(tiktoken_encoding.PREFIX):
        encoding = tiktoken_encoding.encoding(source.removeprefix(tiktoken_encoding.PREFIX))
        return tiktoken_encoding.sha256(encoding), tiktoken_encoding.content(encoding)
    path = Path(source).expanduser()
    path = path / "tokenizer.json" if path.is_dir() else path
    if not path.is_file():
        raise ValueError(
            f"tokenizer.source = {source!r}: {path} is no file; a study needs it whenever it begins or goes on"
        )
    written = untrusted.read(path, untrusted.LARGE)
    return hashlib.sha256(written).hexdigest(), json_file.parse(
        written, str(path), "model", "decoder", "pre_tokenizer"
    )
