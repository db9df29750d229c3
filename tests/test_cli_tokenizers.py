"""`onechange tokenizer`: show, learn and compare through the command line, and what a person gets wrong."""

import io
import json
import os
import sys
from pathlib import Path

import pytest

from onechange import tokenizer_file
from onechange.verbs import learning
from small_studies import Outcome, onechange

STORIES = [
    f"Tom saw {n} red {'cats' if n % 2 else 'dogs'} in the park. One day, he ran home." for n in range(30)
]


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(os, "fsync", lambda file: None)


@pytest.fixture
def data(tmp_path: Path) -> str:
    path = tmp_path / "tales.txt"
    path.write_text("\n<|endoftext|>\n".join(STORIES))
    return f"file:{path}"


def refused(outcome: Outcome, *named: str) -> None:
    assert (outcome.status, outcome.out) == (2, ""), outcome
    (line,) = outcome.err.splitlines()
    for word in named:
        assert word in line


# --- show -----------------------------------------------------------------------------------------------------------


def test_several_tokenizers_are_shown_one_under_the_other(data: str) -> None:
    words = [
        "tokenizer",
        "show",
        "character",
        "bpe:vocabulary=60,70",
        "--data",
        data,
        "--text",
        "Tom saw cats.",
    ]
    outcome = onechange(*words)
    assert outcome.status == 0, outcome.err
    places = [
        outcome.out.index(f"{label}\n") for label in ("character", "bpe:vocabulary=60", "bpe:vocabulary=70")
    ]
    assert places == sorted(places)
    assert outcome.out.count("13 characters") == 3
    assert "T│o│m│·│s│a│w│·│c│a│t│s│." in outcome.out
    documents = onechange(*words, "--json").document
    assert [each["tokenizer"] for each in documents] == [
        "character",
        "bpe:vocabulary=60",
        "bpe:vocabulary=70",
    ]
    for each in documents:
        assert "".join(each["tokens"]) == "Tom saw cats."


def test_ids_stand_under_the_tokens_on_demand(data: str) -> None:
    words = ["tokenizer", "show", "character", "--data", data, "--text", "Tom"]
    ids = onechange(*words, "--json").document["ids"]
    assert len(ids) == 3
    tokens, numbers = onechange(*words, "--ids").out.splitlines()[:2]
    assert [part.strip() for part in tokens.split("│")] == ["T", "o", "m"]
    assert [int(part) for part in numbers.split("│")] == ids
    assert "│".join(map(str, ids)) not in onechange(*words).out


def test_a_dash_reads_standard_input(data: str, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["tokenizer", "show", "character", "--data", data, "--text", "-", "--json"]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"Tom\r\nsaw"), encoding="utf-8"))
    refused(onechange(*words), "'\\r' (U+000D)")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"Tom saw\n"), encoding="utf-8"))
    assert onechange(*words).document["text"] == "Tom saw\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"Tom \xff"), encoding="utf-8"))
    refused(onechange(*words), "standard input", "byte 4 is 0xff")


# --- learn ----------------------------------------------------------------------------------------------------------


def test_what_was_learned_is_told_and_kept_for_every_other_verb(data: str, tmp_path: Path) -> None:
    folder = tmp_path / "some" / "folder"
    words = ["tokenizer", "learn", "bpe:vocabulary=70", "--data", data, "--out"]
    outcome = onechange(*words, folder)
    assert outcome.status == 0, outcome.err
    for shown in (
        "vocabulary",
        "70",
        "training text",
        "validation text",
        "bytes each",
        "longest tokens",
        "seconds",
    ):
        assert shown in " ".join(outcome.out.split())
    document = onechange(*words, tmp_path / "again", "--json").document
    kept = tokenizer_file.load(folder / "tokenizer.json")
    assert document["vocabulary"] == kept.vocabulary_size == 70
    alphabet = len({*"".join(STORIES), "\n"})
    assert document["first_tokens"] == kept.tokens()[alphabet : alphabet + learning.FIRST]
    shown = onechange(
        "tokenizer", "show", folder, "bpe:vocabulary=70", "--data", data, "--text", "Tom", "--json"
    )
    one, other = shown.document
    assert one["ids"] == other["ids"]
    assert (tmp_path / "again/tokenizer.json").read_bytes() == (folder / "tokenizer.json").read_bytes()


def test_a_folder_that_holds_a_tokenizer_is_refused_and_left_as_it_is(data: str, tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    folder.mkdir()
    for name in learning.FILES:
        (folder / name).write_text("mine")
        refused(
            onechange("tokenizer", "learn", "character", "--data", data, "--out", folder), str(folder), name
        )
        assert [(path.name, path.read_text()) for path in folder.iterdir()] == [(name, "mine")]
        (folder / name).unlink()
    refused(
        onechange("tokenizer", "learn", folder, "--data", data, "--out", tmp_path / "x"),
        "without a tokenizer",
    )
    file = tmp_path / "file"
    file.write_text("")
    refused(onechange("tokenizer", "learn", "character", "--data", data, "--out", file), "is a file")


@pytest.mark.parametrize("exists", [True, False])
def test_an_interrupt_leaves_nothing_behind(
    data: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exists: bool
) -> None:
    folder = tmp_path / "deep" / "folder"
    if exists:
        folder.mkdir(parents=True)
        (folder / "mine.txt").write_text("mine")
    before = sorted(tmp_path.rglob("*"))

    def half(tokenizer: object, resolved: object, path: Path) -> None:
        path.write_text("half of it", encoding="utf-8")
        raise KeyboardInterrupt

    monkeypatch.setattr(tokenizer_file, "save", half)
    outcome = onechange("tokenizer", "learn", "bpe:vocabulary=60", "--data", data, "--out", folder)
    assert outcome.status == 130
    assert [path for path in sorted(tmp_path.rglob("*")) if "cache" not in path.parts] == before


# --- compare --------------------------------------------------------------------------------------------------------


def test_compare_prints_table_chart_and_text_and_writes_the_page(data: str, tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    onechange("tokenizer", "learn", "bpe:vocabulary=75", "--data", data, "--out", folder)
    page = tmp_path / "page.html"
    words = [
        "tokenizer",
        "compare",
        "character",
        "bpe:vocabulary=60,70",
        folder,
        "--data",
        data,
        "--text",
        "Tom saw",
    ]
    words += ["--width", "32", "--layers", "1"]
    outcome = onechange(*words, "--page", page)
    assert outcome.status == 0, outcome.err
    for shown in ("bytes per token, training text", "tokens per word", "unused tokens", "█", "T│o│m│·│s│a│w"):
        assert shown in outcome.out
    told = onechange(*words, "--json").document
    assert [each["vocabulary"] for each in told["tokenizers"]][1:] == [60, 70, 75]
    for each in told["tokenizers"]:
        assert each["embedding_share"] == each["vocabulary"] * 32 / each["parameters"]
        assert f"{each['validation']['characters_per_token']:.2f}" in outcome.out
        assert f"{each['embedding_share']:.0%}" in outcome.out
        assert each["tokenizer"] in page.read_text()
    assert json.loads(json.dumps(told)) == told


def test_wrong_sizes_and_texts_are_one_line(data: str) -> None:
    words = ["tokenizer", "compare", "character", "--data", data]
    refused(onechange(*words, "--width", "0"), "width = 0")
    refused(onechange(*words, "--layers", "-1"), "layers = -1")
    refused(onechange(*words, "--text", "Zoë"), "'ë' (U+00EB)")
    refused(onechange(*words, "bpe:vocabulary=3"), "bpe:vocabulary=3", "at least")
