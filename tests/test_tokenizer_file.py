"""`tokenizer.json` and `tokenizer_config.json`: what is written, what is refused, and what a crash leaves behind."""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer as Peer

from onechange import family, tokenizer_file
from onechange.pieces import Pieces
from onechange.tokenizer.bpe import Bpe

RESOLVED = family.resolve("tokenizer", {"name": "bpe", "vocabulary": 6})
SETTINGS = {key: value for key, value in RESOLVED.items() if key != "name"}
WRITTEN = (
    '{"version":"1.0","truncation":null,"padding":null,"added_tokens":[],"normalizer":null,'
    '"pre_tokenizer":{"type":"Split","pattern":{"Regex":' + json.dumps(Pieces("classes").regex) + "},"
    '"behavior":"Isolated","invert":false},"post_processor":null,"decoder":{"type":"Fuse"},'
    '"model":{"type":"BPE","dropout":null,"unk_token":null,"continuing_subword_prefix":null,'
    '"end_of_word_suffix":null,"fuse_unk":false,"byte_fallback":false,"ignore_merges":false,'
    '"vocab":{" ":0,"a":1,"b":2,"é":3,"bé":4,"abé":5},"merges":[["b","é"],["a","bé"]]}}\n'
)
CONFIG: dict[str, Any] = {
    "tokenizer_class": "PreTrainedTokenizerFast",
    "clean_up_tokenization_spaces": False,
    "onechange": {
        "format": 2,
        "name": "bpe",
        "version": family.version("tokenizer", "bpe"),
        "settings": SETTINGS,
        "sha256": hashlib.sha256(WRITTEN.encode()).hexdigest(),
    },
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "tokenizer.json"


@pytest.fixture
def config(path: Path) -> Path:
    return path.with_name("tokenizer_config.json")


@pytest.fixture
def tokenizer() -> Bpe:
    tokenizer = Bpe(vocabulary=6)
    tokenizer.learn(["abé abé bé"], " abé")
    return tokenizer


def write(path: Path, content: str = WRITTEN, **ours: Any) -> None:
    """Both files, their checksum right unless ``ours`` says otherwise."""
    path.write_text(content, encoding="utf-8")
    sound = {**CONFIG["onechange"], "sha256": hashlib.sha256(content.encode()).hexdigest()}
    found = json.dumps({**CONFIG, "onechange": {**sound, **ours}})
    path.with_name("tokenizer_config.json").write_text(found, encoding="utf-8")


def test_the_bytes_are_these(tokenizer: Bpe, path: Path, config: Path):
    tokenizer_file.save(tokenizer, RESOLVED, path)
    assert path.read_bytes() == WRITTEN.encode()
    assert json.loads(config.read_text(encoding="utf-8")) == CONFIG
    assert set(path.parent.iterdir()) == {path, config}
    before = config.read_bytes()
    tokenizer_file.save(tokenizer, RESOLVED, path.parent)
    assert config.read_bytes() == before


def test_these_bytes_are_read(path: Path):
    write(path)
    for place in (path, path.parent):
        loaded = tokenizer_file.load(place)
        assert loaded.encode("abé bb").tolist() == [5, 0, 2, 2]
        assert isinstance(loaded, Bpe) and loaded.vocabulary == 6 and loaded.loss is None


def test_the_library_reads_them_too(path: Path):
    write(path)
    peer = Peer.from_file(str(path))
    assert peer.encode("abé bb").ids == [5, 0, 2, 2]
    assert peer.decode([5, 0, 2, 2]) == "abé bb"


def test_why_a_tokenizer_is_lossy_is_kept(tokenizer: Bpe, path: Path):
    tokenizer.loss = "it lowers capitals"
    tokenizer_file.save(tokenizer, RESOLVED, path)
    assert tokenizer_file.load(path).loss == "it lowers capitals"


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
    assert tokenizer_file.load(path).vocabulary_size == 6
    tokenizer_file.save(tokenizer, RESOLVED, path)
    assert tokenizer_file.load(path).tokens() == ["b", "bb", "bbbb", "bbbbb"]


def test_a_crash_between_the_two_files_is_seen_and_written_over(tokenizer: Bpe, path: Path, config: Path):
    tokenizer_file.save(tokenizer, RESOLVED, path)
    before = config.read_bytes()
    tokenizer.learn(["bbbbb"], "b")
    tokenizer_file.save(tokenizer, RESOLVED, path)
    config.write_bytes(before)
    with pytest.raises(
        ValueError, match=r"not the file that tokenizer_config.json beside it was written for"
    ):
        tokenizer_file.load(path)
    tokenizer_file.keep(tokenizer, RESOLVED, path)
    assert tokenizer_file.load(path).tokens() == ["b", "bb", "bbbb", "bbbbb"]


def test_another_tokenizer_does_not_take_the_place_of_the_one_trained_with(tokenizer: Bpe, path: Path):
    tokenizer_file.keep(tokenizer, RESOLVED, path)
    tokenizer_file.keep(tokenizer, RESOLVED, path)
    tokenizer.learn(["bbbbb"], "b")
    with pytest.raises(ValueError, match=r"tokenizer\.json: the tokenizer learned now is another one than"):
        tokenizer_file.keep(tokenizer, RESOLVED, path)
    assert path.read_bytes() == WRITTEN.encode()


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({"format": 1}, r"its format is 1, this onechange reads format 2"),
        ({"format": "2"}, r"tokenizer_config.json beside it: Expected `int`, got `str`"),
        ({"name": "morse"}, r"no member 'morse'; there is .*bpe, .*byte"),
        ({"version": 0}, r"version 0 when it was learned and has \d now"),
        ({"surplus": 0}, r"unknown field `surplus`"),
        ({"settings": {"vocabulary": 6}}, r"its settings are 'vocabulary', those .* are 'vocabulary', "),
        ({"settings": {**SETTINGS, "name": "bpe"}}, r"its settings are .*'name'"),
        ({"settings": {**SETTINGS, "dropout": 0.1}}, r"no setting 'dropout'"),
        ({"settings": {**SETTINGS, "vocabulary": "6"}}, r"tokenizer.vocabulary = '6'"),
        ({"settings": {**SETTINGS, "vocabulary": 5}}, r"4 characters and 2 merges are more than .* 5"),
        ({"settings": []}, r"Expected `object`, got `array`"),
        ({"sha256": "0" * 64}, r"its sha256 is another"),
        ({"loss": 3}, r"Expected `str \| null`, got `int`"),
    ],
)
def test_a_config_that_is_wrong_is_named_with_what_is_wrong(path: Path, change: dict[str, Any], wrong: str):
    write(path, **change)
    refused(path, wrong)


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({"model": None}, r"model"),
        ({"version": "2.0"}, r'version is "2.0", not "1.0"'),
        ({"surplus": 1}, r"unknown key 'surplus'"),
        ({"normalizer": {"type": "Lowercase"}}, r"normalizer is "),
    ],
)
def test_a_content_that_is_wrong_is_named_with_what_is_wrong(path: Path, change: dict[str, Any], wrong: str):
    write(path, json.dumps({**json.loads(WRITTEN), **change}))
    refused(path, wrong)


def refused(path: Path, wrong: str) -> None:
    with pytest.raises(ValueError, match=wrong) as raised:
        tokenizer_file.load(path)
    message = str(raised.value)
    assert message.startswith(f"{path} is not a tokenizer that can be read: ")
    assert "\n" not in message


@pytest.mark.parametrize("key", list(CONFIG["onechange"]))
def test_a_config_without_one_of_its_keys_is_refused(path: Path, config: Path, key: str):
    write(path)
    content = json.loads(config.read_text(encoding="utf-8"))
    del content["onechange"][key]
    config.write_text(json.dumps(content), encoding="utf-8")
    refused(path, f"`{key}`")


@pytest.mark.parametrize("key", ["tokenizer_class", "clean_up_tokenization_spaces"])
def test_a_config_that_would_have_others_load_it_otherwise_is_refused(path: Path, config: Path, key: str):
    write(path)
    config.write_text(json.dumps({**CONFIG, key: True}), encoding="utf-8")
    refused(path, "tokenizer_config.json beside it: ")


@pytest.mark.parametrize("beside", [None, {"tokenizer_class": "PreTrainedTokenizerFast"}])
def test_who_brings_another_s_file_is_told_how_to_use_it(path: Path, config: Path, beside: Any):
    path.write_text(WRITTEN, encoding="utf-8")
    if beside is not None:
        config.write_text(json.dumps(beside), encoding="utf-8")
    refused(path, r'onechange did not save it.* name = "pretrained", source = ".*tokenizer\.json" ')


def test_a_file_of_the_first_format_says_so(path: Path):
    path.write_text(
        '{"format":1,"name":"character","version":1,"settings":{},"state":{"alphabet":"a"}}\n',
        encoding="utf-8",
    )
    refused(path, "its format is 1, this onechange reads format 2: learn it anew")


NO_JSON = [b"", b"{", b"[]", b"null", b"\xff\xfe", WRITTEN.encode("latin-1"), b"[" * 99999]


@pytest.mark.parametrize("content", [*NO_JSON, WRITTEN.encode()[:-9]])
def test_bytes_that_are_no_tokenizer_are_refused(path: Path, config: Path, content: bytes):
    write(path, sha256=hashlib.sha256(content).hexdigest())
    path.write_bytes(content)
    refused(path, "be read: .")


@pytest.mark.parametrize("content", NO_JSON)
def test_bytes_that_are_no_config_are_refused(path: Path, config: Path, content: bytes):
    write(path)
    config.write_bytes(content)
    refused(path, "be read: .")


def test_a_file_that_is_not_there_is_named(path: Path):
    with pytest.raises(FileNotFoundError, match=path.name):
        tokenizer_file.load(path)
