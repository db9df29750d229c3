"""A large corpus under one tokenizer: encoded once by all cores, kept in the cache, mapped into memory.

A folder holds the tokenizer and for each part ``<part>.ids`` (of the smallest type that holds the vocabulary) and its
tables (64-bit whole numbers): ``.tokens``, ``.characters`` and ``.bytes`` of every story, and ``.landmarks``. All is
little-endian. Every byte is checked when a folder is opened.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from onechange import family, finished, outside, tokenizer_file, workers
from onechange.documents import Corpus
from onechange.encoding import SPAN, Encoding, encode, id_type, landmarks
from onechange.outside import Code
from onechange.text_store import Block, Stories
from onechange.token_table import token_table
from onechange.tokenizer import Tokenizer
from onechange.watching import Watch

FORMAT = 3
PARTS = ("training", "validation", "test")
_TABLES = ("tokens", "characters", "bytes")
_Encoded = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""Ids, and the tables of their stories."""


def place(cache: Path, corpus: Corpus, resolved: Mapping[str, Any]) -> Path:
    """Where ``cache`` keeps the encoding of ``corpus`` by the tokenizer that ``resolved`` names."""
    content = {
        "format": FORMAT,
        "corpus": corpus.fingerprint,
        "tokenizer": family.determining("tokenizer", resolved),
        "version": family.version("tokenizer", resolved["name"]),
    }
    key = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:32]
    return cache / "encodings" / f"{resolved['name']}-{key}"


def write(
    folder: Path, corpus: Corpus, tokenizer: Tokenizer, resolved: Mapping[str, Any], watch: Watch
) -> None:
    """Encode the stories of ``corpus`` into ``folder``. An `OSError` says what the disk lacks."""
    parts = {"training": corpus.training, "validation": corpus.validation}
    if corpus.test:
        parts["test"] = corpus.test
    blocks = [block for part in parts.values() if isinstance(part, Stories) for block in part.blocks]
    total = sum(block.bytes for block in blocks)
    done = written = 0

    def fill(filling: finished.Filling) -> dict[str, Any]:
        nonlocal done, written
        saved = filling.path / tokenizer_file.NAME
        tokenizer_file.save(tokenizer, resolved, saved)
        for name in (tokenizer_file.NAME, tokenizer_file.CONFIG):
            filling.wrote(name)
        given = saved, corpus.separator, outside.codes({"tokenizer": resolved})
        with closing(workers.ordered(_encoder, given, blocks)) as encoded:
            for name, stories in parts.items():
                assert isinstance(stories, Stories)
                writers = [filling.writer(f"{name}.{kind}") for kind in ("ids", *_TABLES)]
                for block in stories.blocks:
                    for writer, array in zip(writers, next(encoded), strict=True):
                        writer.write(array.astype(array.dtype.newbyteorder("<")).tobytes())
                        written += array.nbytes
                    done += block.bytes
                    watch(done, total, "encoding text")
                writers[0].finish()  # so that it can be read
                ids = _chunks(filling.path / writers[0].name, tokenizer.vocabulary_size)
                found = landmarks(ids, token_table(tokenizer.token_bytes()))
                filling.writer(f"{name}.landmarks").write(found.astype("<i8").tobytes())
        return {}

    finished.make(folder, fill, lambda: written * total // done if done else total)


def read(folder: Path) -> tuple[Tokenizer, list[Encoding]] | None:
    """Tokenizer and the parts that there are, in order; ``None`` where the folder is absent, unfinished or damaged."""
    if finished.read(folder) is None:
        return None
    tokenizer = tokenizer_file.load(folder)
    return tokenizer, [
        _encoding(folder, part, tokenizer) for part in PARTS if (folder / f"{part}.ids").is_file()
    ]


def _encoding(folder: Path, part: str, tokenizer: Tokenizer) -> Encoding:
    tables = {kind: _map(folder / f"{part}.{kind}", np.dtype("<i8")) for kind in (*_TABLES, "landmarks")}
    ids = _map(folder / f"{part}.ids", id_type(tokenizer.vocabulary_size))
    return Encoding(
        ids=ids,
        tokens=token_table(tokenizer.token_bytes()),
        landmarks=tables["landmarks"],
        characters=int(tables["characters"].sum()),
        bytes=int(tables["bytes"].sum()),
        story_tokens=tables["tokens"],
        story_characters=tables["characters"],
        story_bytes=tables["bytes"],
    )


def _map(file: Path, kind: np.dtype) -> np.ndarray:
    return np.asarray(np.memmap(file, kind.newbyteorder("<"), mode="r"))


def _chunks(file: Path, vocabulary: int) -> Iterator[np.ndarray]:
    kind = id_type(vocabulary).newbyteorder("<")
    for chunk in finished.chunks(file, 1024 * SPAN * kind.itemsize):
        yield np.frombuffer(chunk, kind)


def _encoder(tokenizer: Path, separator: str, codes: Sequence[Code]) -> Callable[[Block], _Encoded]:
    outside.execute(codes)
    found = tokenizer_file.load(tokenizer)

    def encoded(block: Block) -> _Encoded:
        part = encode(found, block.stories(), separator, block.first)
        return part.ids, part.story_tokens, part.story_characters, part.story_bytes

    return encoded
