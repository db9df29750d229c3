"""What can go wrong on the way to an exported model: one line says it, and nothing is left."""

import errno
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

import own_members
import small_exports
from onechange import atomic
from onechange.checkpoint import Checkpoints
from onechange.export import comparison, folder, separate
from small_exports import export, nothing_in, of, refused
from small_studies import in_haste, onechange, study_file
from test_checkpoint import replaced


@pytest.fixture(scope="module", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with in_haste(tmp_path_factory.mktemp("cache")):
        yield


@pytest.fixture
def run(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that has no study around it, the only thing in its folder."""
    text = small_exports.text(tmp_path_factory.mktemp("text") / "stories.txt")
    return small_exports.run(tmp_path / "run", "positions", "rope", text)


def test_a_folder_that_holds_something_is_refused(run: Path, tmp_path: Path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine")
    refused(export(run, "hf", tmp_path / "out"), str(tmp_path / "out"), "not empty: an export is written")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine.txt"]
    refused(export(run, "safetensors", tmp_path / "out" / "mine.txt"), "is no folder")


def test_an_empty_folder_will_do(tmp_path: Path):
    (tmp_path / "out").mkdir()
    assert folder.make(tmp_path / "out", lambda part: (part / "a").write_text("a")) == 1
    assert [path.name for path in tmp_path.rglob("*")] == ["out", "a"]


def test_words_that_are_wrong(run: Path, tmp_path: Path):
    refused(export(run, "gguf", tmp_path / "out"), "--to 'gguf'", "hf, safetensors")
    refused(export(run, "hf", tmp_path / "out", "--checkpoint", "first"), "--checkpoint 'first'")
    refused(export(run, "hf", tmp_path / "out", "--checkpoint", "step-999"), "no checkpoint of step 999")
    refused(export(tmp_path, "hf", tmp_path / "out"), "is no run")
    assert nothing_in(tmp_path)


def test_a_run_without_a_checkpoint(run: Path, tmp_path: Path):
    shutil.rmtree(run / "checkpoints")
    refused(export(run, "hf", tmp_path / "out"), "has no checkpoint yet")
    assert nothing_in(tmp_path)


def test_damaged_weights(run: Path, tmp_path: Path):
    weights = run / "checkpoints" / "step-000001" / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-3] ^= 1
    weights.write_bytes(content)
    for to in ("hf", "safetensors"):
        refused(export(run, to, tmp_path / "out"), str(weights))
    assert nothing_in(tmp_path)


def test_weights_that_are_no_numbers(run: Path, tmp_path: Path):
    path = run / "checkpoints" / "step-000001" / "model.safetensors"
    tensors = load_file(path)
    tensors["blocks.0.mlp.out.weight"][0, 0] = torch.nan
    replaced(path, tensors)
    for which in ("best", "last"):
        Checkpoints(run).point(which, 1)
    refused(export(run, "hf", tmp_path / "out"), "not finite numbers")
    assert nothing_in(tmp_path)


@pytest.mark.parametrize("library", ["transformers", "tokenizers"])
def test_a_library_that_is_missing(library: str, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, library, None)
    refused(export(run, "hf", tmp_path / "out"), library, "pip install 'onechange[export]'")
    assert nothing_in(tmp_path)


@pytest.mark.parametrize("to", ["hf", "safetensors"])
def test_a_full_disk_leaves_nothing(to: str, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def full(path: Path, content: bytes | str) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    monkeypatch.setattr(atomic, "write", full)
    refused(export(run, to, tmp_path / "out"), str(tmp_path / "out"), "No space left on device")
    assert nothing_in(tmp_path)


@pytest.mark.parametrize("to", ["hf", "safetensors"])
def test_an_interruption_leaves_nothing(to: str, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def interrupted(*given: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(comparison, "largest_difference", interrupted)
    monkeypatch.setattr(separate, "asked", interrupted)
    outcome = export(run, to, tmp_path / "out")
    assert outcome.status == 130 and "onechange: stopped" in outcome.err
    assert nothing_in(tmp_path)


def test_what_a_kill_left_goes_with_the_next_export(tmp_path: Path):
    left = tmp_path / ".out-abc.part" / "export"
    left.mkdir(parents=True)
    (left / "model.safetensors").write_bytes(b"half")
    folder.make(tmp_path / "out", lambda part: (part / "a").write_text("a"))
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.long
def test_a_member_from_outside_has_no_piece(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MARK", str(tmp_path / "mark"))
    (tmp_path / "mine.py").write_text(own_members.NORM, encoding="utf-8")
    file = study_file(
        tmp_path,
        STUDY_WITH_MINE,
        "mine.toml",
    )
    outcome = onechange("run", file, "--scale", "tiny", "--out", tmp_path / "study", "--jobs", 1)
    assert outcome.status == 0, outcome.err
    executed = (tmp_path / "mark").read_text().count("norm")
    for to in ("safetensors", "hf"):
        found = export(of(tmp_path / "study", "mine"), to, tmp_path / "out")
        refused(found, "norm = ", "mine.py", "comes from outside onechange")
    assert (tmp_path / "mark").read_text().count("norm") == executed
    assert not (tmp_path / "out").exists()


STUDY_WITH_MINE = """\
question = "Mine?"
corpus = { name = "storyworld", characters = 40000 }

[base]
name = "usual"
tokenizer = "character"

[[arm]]
name = "mine"
from = "usual"
change.norm = "mine.py"

[scale.tiny]
layers = 1
width = 16
window = 16
batch = 4
budget = { steps = 2 }
evaluate_every = 2
precision = "float32"
"""
