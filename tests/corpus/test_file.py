"""A person's own text: every kind of file, and every way in which one can be wrong."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from onechange.documents import Corpus, prepare
from onechange.family import resolve

TWELVE = [f"Document {number}, “quoted” – and é." for number in range(1, 13)]


def corpus(path: Path, **settings: Any) -> Corpus:
    return prepare(resolve("corpus", {"name": "file", "path": str(path), **settings}), cache=None)


def documents(path: Path, **settings: Any) -> set[str]:
    found = corpus(path, **settings)
    return {*found.training, *found.validation}


def write_jsonl(file: Path, texts: list[str], field: str = "text") -> Path:
    file.write_text("".join(json.dumps({"id": 1, field: text}) + "\n" for text in texts), encoding="utf-8")
    return file


def write_parquet(file: Path, **columns: list[Any]) -> Path:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table(columns), file)
    return file


def test_plain_text_is_one_running_text(tmp_path: Path) -> None:
    file = tmp_path / "novel.txt"
    paragraphs = [f"Paragraph {number} has words.\nAnd a second line." for number in range(200)]
    text = "\n\n".join(paragraphs)
    file.write_text("\n" + text + "\n\n")
    found = corpus(file)
    assert (len(found.training), len(found.validation)) == (1, 1)
    assert "\n\n".join([*found.training, *found.validation]) == text
    assert found.facts["split"] == "the last tenth of the text"
    assert 0.09 < found.facts["validation_characters"] / len(text) < 0.11


def test_text_with_separators_is_documents(tmp_path: Path) -> None:
    file = tmp_path / "stories.TXT"
    file.write_text("\n<|endoftext|>\n".join(TWELVE), encoding="utf-8")
    found = corpus(file)
    assert found.training == tuple(TWELVE[:9] + TWELVE[10:])
    assert found.validation == (TWELVE[9],)
    assert found.separator == "\n\n"


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_tables(tmp_path: Path, kind: str) -> None:
    if kind == "jsonl":
        file = write_jsonl(tmp_path / "a.jsonl", TWELVE, "story")
    else:
        file = write_parquet(tmp_path / "a.parquet", id=list(range(12)), story=TWELVE)
    assert corpus(file, field="story").training == tuple(TWELVE[:9] + TWELVE[10:])
    with pytest.raises(LookupError, match="no field 'text'; there is 'id', 'story'"):
        corpus(file)


def test_a_folder_is_read_in_the_order_of_names(tmp_path: Path) -> None:
    folder = tmp_path / "texts"
    (folder / "b").mkdir(parents=True)
    write_jsonl(folder / "a.jsonl", TWELVE[:4])
    (folder / "b" / "1.txt").write_text(TWELVE[4], encoding="utf-8")
    (folder / "b" / "2.txt").write_text("\n<|endoftext|>\n".join(TWELVE[5:8]), encoding="utf-8")
    write_parquet(folder / "c.parquet", text=TWELVE[8:])
    for name in ("README.md", "z.csv", "y.csv", "x.csv"):
        (folder / name).write_text("not this")
    (folder / ".hidden.txt").write_text("nor this")
    found = corpus(folder)
    assert found.training == tuple(TWELVE[:9] + TWELVE[10:])
    assert found.validation == (TWELVE[9],)
    assert found.facts["notes"] == [
        f"{folder}: left out, being none of .txt, .jsonl, .parquet: 4 (README.md, x.csv, y.csv, …)"
    ]


def test_where_a_file_lies_is_not_in_the_fingerprint(tmp_path: Path) -> None:
    marks = {
        corpus(write_jsonl(tmp_path / "a.jsonl", TWELVE, field), field=field).fingerprint
        for field in ("text", "other")
    }
    marks.add(corpus(write_jsonl(tmp_path / "b.jsonl", TWELVE)).fingerprint)
    assert len(marks) == 1


def test_marks_and_line_ends_are_reported(tmp_path: Path) -> None:
    file = tmp_path / "windows.txt"
    file.write_bytes(b"\xef\xbb\xbfOne line.\r\n<|endoftext|>\r\nTwo.\r\nThree.\r\n")
    found = corpus(file)
    assert (found.training, found.validation) == (("One line.",), ("Two.\nThree.",))
    assert found.facts["notes"][:2] == [
        f"{file}: a byte-order mark at the beginning was dropped",
        f"{file}: 4 CRLF line ends became LF",
    ]
    table = tmp_path / "a.jsonl"
    table.write_bytes(b"\xef\xbb\xbf" + b'{"text": "a\\r\\nb"}\r\n{"text": "c"}\r\n')
    assert documents(table) == {"a\nb", "c"}


@pytest.mark.parametrize("name", ["a.txt", "a.jsonl"])
def test_a_bad_byte(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.write_bytes(b"abc\n" * 300_000 + b"\xe9t\xe9")
    with pytest.raises(ValueError, match=rf"{name}: byte 0xe9 at offset 1,200,000") as caught:
        if name == "a.txt":
            corpus(file)
        else:
            file.write_bytes(b'{"text": "abc"}\n' * 75_000 + b"\xe9t\xe9")
            corpus(file)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "no text"),
        (b"\n", "no text"),
        (b"\xef\xbb\xbf", "no text"),
        (b"a", "'a'; a corpus needs two characters"),
        (b"<|endoftext|>", "no text"),
        (b"\xff", "offset 0"),
    ],
)
def test_too_little_is_a_clear_error(tmp_path: Path, content: bytes, said: str) -> None:
    file = tmp_path / "small.txt"
    file.write_bytes(content)
    with pytest.raises(ValueError, match=f"small.txt: .*{said}"):
        corpus(file)


@pytest.mark.parametrize("content", [b"ab", b"one line", b"one line\n", b"a\n<|endoftext|>\nb"])
def test_little_works(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "small.txt"
    file.write_bytes(content)
    found = corpus(file)
    assert len(found.training) == len(found.validation) == 1


@pytest.mark.parametrize(
    ("lines", "error", "said"),
    [
        ('{"text": "a"}\n{"text": \n', ValueError, "a.jsonl, line 2: not a JSON object"),
        ('{"text": "a"}\n\n["b"]\n', ValueError, "a.jsonl, line 3: a JSON object is needed, this is list"),
        ('{"text": 3}', ValueError, "a.jsonl, line 1: 'text' must be text, this is int"),
        ("{}", LookupError, "a.jsonl, line 1: no field 'text'; there is nothing"),
        (r'{"text": "\ud83d"}', ValueError, "line 1: 'text' holds half a surrogate pair at character 0"),
        ("[" * 100_000, ValueError, "a.jsonl, line 1: not a JSON object"),
    ],
)
def test_bad_lines(tmp_path: Path, lines: str, error: type[Exception], said: str) -> None:
    (tmp_path / "a.jsonl").write_text(lines)
    with pytest.raises(error, match=said):
        corpus(tmp_path / "a.jsonl")


def test_null_is_passed_over(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text('{"text": null}\n{"text": "a"}\n{"text": "b"}\n')
    assert documents(file) == {"a", "b"}
    assert documents(write_parquet(tmp_path / "a.parquet", text=[None, "a", "b"])) == {"a", "b"}


def test_bad_parquet(tmp_path: Path) -> None:
    file = write_parquet(tmp_path / "a.parquet", text=[1, 2])
    with pytest.raises(ValueError, match=r"a\.parquet, row 1: 'text' must be text, this is int"):
        corpus(file)
    for content in (b"", b"x", b"not parquet at all"):
        file.write_bytes(content)
        with pytest.raises(ValueError, match=r"a\.parquet: not a readable parquet file") as caught:
            corpus(file)
        assert "\n" not in str(caught.value)


def test_parquet_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write_parquet(tmp_path / "a.parquet", text=TWELVE)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ValueError, match=r"a\.parquet.*pip install 'onechange\[parquet\]'"):
        corpus(file)


def test_paths_that_lead_nowhere(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"missing\.txt': there is no such file or folder"):
        corpus(tmp_path / "missing.txt")
    with pytest.raises(ValueError, match=r"a\.csv: its name must end in one of \.txt, \.jsonl, \.parquet"):
        (tmp_path / "a.csv").write_text("x")
        corpus(tmp_path / "a.csv")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="empty: no file in this folder ends in one of"):
        corpus(tmp_path / "empty")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="this user may read everything")
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    file = tmp_path / "secret.txt"
    file.write_text("text")
    file.chmod(0)
    with pytest.raises(OSError, match=r"secret\.txt: it cannot be read"):
        corpus(file)


def test_characters_stop_the_reading(tmp_path: Path) -> None:
    (tmp_path / "1.txt").write_text("\n<|endoftext|>\n".join(TWELVE), encoding="utf-8")
    (tmp_path / "2.txt").write_bytes(b"\xff never read")
    assert documents(tmp_path, characters=100) == set(TWELVE[:4])


def test_settings_turn_something(tmp_path: Path) -> None:
    file = tmp_path / "novel.txt"
    file.write_text("word " * 1000)
    found = corpus(file, characters=100, separator="\n")
    assert found.separator == "\n"
    assert len(found.training[0]) + len(found.validation[0]) < 110
