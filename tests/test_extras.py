"""What is needed is declared, what is declared is needed, and who lacks an extra is told which one it is."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from onechange import peer_library, table_files, tiktoken_encoding
from onechange.corpus.tinystories import TinyStories
from onechange.plain_text import Changes
from small_studies import STUDY, onechange, study_file

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "onechange"
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
IMPORTED_AS = {"huggingface-hub": "huggingface_hub", "tomli-w": "tomli_w", "vl-convert-python": "vl_convert"}
FOR_ANOTHER = {"markupsafe": "jinja2", "h11": "uvicorn", "IPython": "ipykernel"}
"""Part of what another brings, and documented so."""
WHOLE = {"ui/": "ui", "tracker/tensorboard.py": "track"}
"""Code that is imported only where its extra is wanted."""


def name(requirement: str) -> str:
    found = requirement.partition(">")[0].partition("[")[0]
    return IMPORTED_AS.get(found, found)


CORE = {name(one) for one in PROJECT["dependencies"]}
EXTRA = {
    name(one): extra
    for extra in ("notebooks", "hub", "parquet", "ray", "ui", "track", "tokenizers", "export")
    for one in PROJECT["optional-dependencies"][extra]
}


def imported(path: Path) -> Iterator[tuple[str, bool]]:
    """Every package from elsewhere that the file imports, and whether it does so as soon as it is imported itself."""
    tree = ast.parse(path.read_text("utf-8"))
    later = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [node.module]
        for word in {name.partition(".")[0] for name in names}:
            if word != "onechange" and word not in sys.stdlib_module_names:
                yield word, id(node) not in later


FOUND = [
    (path.relative_to(SOURCE).as_posix(), word, at_once)
    for path in sorted(SOURCE.rglob("*.py"))
    for word, at_once in imported(path)
]


def test_what_is_imported_is_declared() -> None:
    known = CORE | EXTRA.keys() | FOR_ANOTHER.keys()
    assert set(FOR_ANOTHER.values()) <= CORE | EXTRA.keys()
    assert {(file, word) for file, word, _ in FOUND if word not in known} == set()


def test_what_everybody_installs_is_used() -> None:
    assert CORE - {word for _, word, _ in FOUND} == set()


def test_an_extra_is_imported_where_it_is_used() -> None:
    wrong = [
        (file, word)
        for file, word, at_once in FOUND
        if at_once and word in EXTRA and not any(file.startswith(place) for place in WHOLE)
    ]
    assert wrong == []


def missing(monkeypatch: pytest.MonkeyPatch, *modules: str) -> None:
    for module in modules:
        monkeypatch.setitem(sys.modules, module, None)


def test_without_the_hubs_client_the_ways_around_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing(monkeypatch, "huggingface_hub")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    study = study_file(tmp_path, STUDY)
    outcome = onechange("run", study, "--scale", "tiny", "--data", "tinystories", "--out", tmp_path / "out")
    assert outcome.status == 2 and outcome.err.count("\n") == 1, outcome.err
    for way in ("pip install 'onechange[hub]'", "tinystories:PATH", "storyworld"):
        assert way in outcome.err
    assert not (tmp_path / "out").exists()
    local = tmp_path / "local.txt"
    local.write_text("Once.\n<|endoftext|>\nTwice.\n<|endoftext|>\n", encoding="utf-8")
    assert [story for story in TinyStories(path=str(local)).documents() if story] == ["Once.", "Twice."]


@pytest.mark.parametrize("extra", ["parquet", "ray", "ui", "track", "tokenizers", "tiktoken"])
def test_who_lacks_an_extra_is_told_its_name(
    extra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if extra == "parquet":
        missing(monkeypatch, "pyarrow", "pyarrow.parquet")
        with pytest.raises(ValueError, match=r"pip install 'onechange\[parquet\]'"):
            list(table_files.parquet(tmp_path / "a.parquet", "text", Changes("a")))
    elif extra == "ray":
        missing(monkeypatch, "ray")
        study = study_file(tmp_path, STUDY)
        words = ["--scale", "tiny", "--cluster", "local", "--out", tmp_path / "out"]
        outcome = onechange("run", study, *words)
        assert outcome.status == 2 and "pip install 'onechange[ray]'" in outcome.err
    elif extra == "ui":
        missing(monkeypatch, "uvicorn")
        outcome = onechange("ui", tmp_path)
        assert outcome.status == 2 and "uvicorn: pip install 'onechange[ui]'" in outcome.err
    elif extra == "track":
        missing(monkeypatch, "tensorboard")
        for module in [
            one for one in sys.modules if one.startswith(("torch.utils.tensorboard", "onechange.tracker.t"))
        ]:
            monkeypatch.delitem(sys.modules, module)
        study = study_file(tmp_path, STUDY)
        outcome = onechange(
            "run", study, "--scale", "tiny", "--track", "tensorboard", "--out", tmp_path / "out"
        )
        assert outcome.status == 2 and "pip install 'onechange[track]'" in outcome.err, outcome.err
    elif extra == "tokenizers":
        missing(monkeypatch, "tokenizers")
        with pytest.raises(ValueError, match=r"unigram needs .* pip install 'onechange\[tokenizers\]'"):
            peer_library.tokenizers("unigram")
    else:
        missing(monkeypatch, "tiktoken")
        with pytest.raises(ValueError, match=r"pip install 'onechange\[tokenizers\]'"):
            tiktoken_encoding.encoding("tiktoken:gpt2")
    assert not (tmp_path / "out").exists()


def test_the_oldest_versions_that_are_tried_are_those_that_are_asked_for() -> None:
    tried = [
        line.split("==")
        for line in (ROOT / "constraints-oldest.txt").read_text("utf-8").splitlines()
        if not line.startswith("#")
    ]
    used = re.search(r"^USED := \.\[(.+)\]$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert used
    extras = [PROJECT["optional-dependencies"][extra] for extra in used[1].split(",")]
    asked = {tuple(one.split(">=")) for group in (PROJECT["dependencies"], *extras) for one in group}
    assert {tuple(one) for one in tried} == asked
