"""`tokenizer.json`: what is written, what is refused, and what a crash leaves behind."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from onechange import family, tokenizer_file
from onechange.tokenizer.bpe import SPLIT, Bpe

RESOLVED = family.resolve("tokenizer", {"name": "bpe", "vocabulary": 6})
STATE = (
    '{"version":"1.0","truncation":null,"padding":null,"added_tokens":[],"normalizer":null,'
    '"pre_tokenizer":{"type":"Split","pattern":{"Regex":' + json.dumps(SPLIT) + "},"
    '"behavior":"Isolated","invert":false},"post_processor":null,"decoder":{"type":"Fuse"},'
    '"model":{"type":"BPE","dropout":null,"unk_token":null,"continuing_subword_prefix":null,'
    '"end_of_word_suffix":null,"fuse_unk":false,"byte_fallback":false,"ignore_merges":false,'
    '"vocab":{" ":0,"a":1,"b":2,"é":3,"bé":4,"abé":5},"merges":[["b","é"],["a","bé"]]}}'
)
WRITTEN = (
    '{"format":1,"name":"bpe","version":1,"settings":{"vocabulary":6,"learn_from":"training"},'
    '"state":' + STATE + "}\n"
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "tokenizer.json"


@pytest.fixture
def tokenizer() -> Bpe:
    tokenizer = Bpe(vocabulary=6)
    tokenizer.learn(["abé abé bé"], " abé")
    return tokenizer


def test_the_bytes_are_these(tokenizer: Bpe, path: Path):
    tokenizer_file.save(tokenizer, RESOLVED, path)
    assert path.read_bytes() == WRITTEN.encode()
    assert list(path.parent.iterdir()) == [path]


def test_these_bytes_are_read(path: Path):
    path.write_text(WRITTEN, encoding="utf-8")
    loaded = tokenizer_file.load(path)
    assert loaded.encode("abé bb").tolist() == [5, 0, 2, 2]
    assert isinstance(loaded, Bpe) and loaded.vocabulary == 6


@pytest.mark.parametrize("moment", ["fsync", "replace"])
def test_a_failed_write_leaves_what_was_there(
    tokenizer: Bpe, path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
):
    tokenizer_file.save(tokenizer, RESOLVED, path)
    tokenizer.learn(["bbbbb"], "b")

    def fails(*_: Any) -> None:
        raise OSError("no space left")

    with monkeypatch.context() as patched:
        patched.setattr(*((os, "fsync") if moment == "fsync" else (Path, "replace")), fails)
        with pytest.raises(OSError, match="no space left"):
            tokenizer_file.save(tokenizer, RESOLVED, path)
    assert path.read_bytes() == WRITTEN.encode()
    tokenizer_file.save(tokenizer, RESOLVED, path)
    assert tokenizer_file.load(path).tokens() == ["b", "bb", "bbbb", "bbbbb"]


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({"format": 2}, r"its format is 2, this onechange reads format 1"),
        ({"format": "1"}, r"Expected `int`, got `str` - at `\$.format`"),
        ({"name": "morse"}, r"no member 'morse'; there is .*bpe, character"),
        ({"version": 0}, r"version 0 when it was learned and has 1 now"),
        ({"surplus": 0}, r"unknown field `surplus`"),
        (
            {"settings": {"vocabulary": 6}},
            r"its settings are 'vocabulary', those .* are 'vocabulary', 'learn_from'",
        ),
        (
            {"settings": {"vocabulary": 6, "learn_from": "training", "name": "bpe"}},
            r"its settings are .*'name'",
        ),
        ({"settings": {"vocabulary": 6, "dropout": 0.1}}, r"no setting 'dropout'"),
        ({"settings": {"vocabulary": "6", "learn_from": "all"}}, r"tokenizer.vocabulary = '6'"),
        (
            {"settings": {"vocabulary": 5, "learn_from": "all"}},
            r"4 characters and 2 merges are more than .* 5",
        ),
        ({"settings": []}, r"Expected `object`, got `array`"),
        ({"state": {}}, r"model is missing"),
        ({"state": {**json.loads(STATE), "version": "2.0"}}, r'version is "2.0", not "1.0"'),
        ({"state": {"model": {"vocab": {"ab": 0}, "merges": [["a", "c"]]}}}, r"the alphabet is empty"),
    ],
)
def test_a_file_that_is_wrong_is_named_with_what_is_wrong(path: Path, change: dict[str, Any], wrong: str):
    path.write_text(json.dumps({**json.loads(WRITTEN), **change}), encoding="utf-8")
    with pytest.raises(ValueError, match=wrong) as raised:
        tokenizer_file.load(path)
    message = str(raised.value)
    assert message.startswith(f"{path} is not a tokenizer that can be read: ")
    assert "\n" not in message


@pytest.mark.parametrize("key", json.loads(WRITTEN))
def test_a_file_without_one_of_its_keys_is_refused(path: Path, key: str):
    content = json.loads(WRITTEN)
    del content[key]
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(ValueError, match=f"`{key}`"):
        tokenizer_file.load(path)


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"null", b"\xff\xfe", WRITTEN.encode()[:-9], WRITTEN.encode("latin-1"), b"[" * 99999],
)
def test_bytes_that_are_no_tokenizer_are_refused(path: Path, content: bytes):
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"tokenizer\.json is not a tokenizer that can be read: "):
        tokenizer_file.load(path)


def test_a_file_that_is_not_there_is_named(path: Path):
    with pytest.raises(FileNotFoundError, match=path.name):
        tokenizer_file.load(path)
