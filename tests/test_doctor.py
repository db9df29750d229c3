"""What a report of a mistake must say is said, and what it must not say is not."""

import getpass
import os
from pathlib import Path

import pytest
import torch
from rich.console import Console

from onechange import installation, os_lock, surroundings
from onechange.verbs import output
from small_studies import onechange


def test_the_same_is_said_in_words_and_in_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "out", Console(width=300, highlight=False))
    monkeypatch.setenv("ONECHANGE_PATIENCE", "17")
    document, said = onechange("doctor", "--json").document, onechange("doctor").out
    assert document["environment"]["ONECHANGE_PATIENCE"] == "17"
    assert torch.__version__.startswith(document["torch"]) and document["devices"][-1] == "cpu"
    for fact in (
        document["torch"],
        document["installed_in"],
        document["cache"],
        "ONECHANGE_PATIENCE=17",
        "locks work",
    ):
        assert fact in said
    for packages in (document["packages"], *document["extras"].values()):
        for name, version in packages.items():
            assert (f"{name} {version}" if version else f"{name}") in said


def test_secrets_and_the_name_of_the_person_are_not_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "Zaphod Beeblebrox"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HF_TOKEN", "hf_verysecret")
    monkeypatch.setenv("RAY_AUTH_TOKEN", "verysecret")
    monkeypatch.setenv("HF_ENDPOINT", "https://zaphod:verysecret@mirror.example/x")
    monkeypatch.setenv("HF_HOME", f"{home}/models")
    monkeypatch.setenv("MY_PASSWORD", "verysecret")
    for said in (onechange("doctor").out, onechange("doctor", "--json").out):
        assert "verysecret" not in said and "Zaphod" not in said and "MY_PASSWORD" not in said
    assert surroundings.variables()["HF_HOME"] == "~/models"
    assert surroundings.variables()["HF_ENDPOINT"] == "https://…@mirror.example/x"
    assert surroundings.at_home(f"{home}-other") == f"{home}-other", (
        "another person's folder is no part of this one's"
    )


def test_the_cache_is_measured_and_a_lock_is_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    assert surroundings.found()["cache_bytes"] == 0
    (tmp_path / "cache/onechange/corpora").mkdir(parents=True)
    (tmp_path / "cache/onechange/corpora/one").write_bytes(bytes(1234))
    found = surroundings.found()
    assert (found["cache_bytes"], found["locks_work"], found["folder_writable"]) == (1234, True, True)
    assert os.listdir(tmp_path) == ["cache"], "nothing is left"  # noqa: PTH208 (names only)
    monkeypatch.setattr(os_lock, "is_taken", lambda path: False)
    assert surroundings.found()["locks_work"] is False


@pytest.mark.skipif(os.name == "nt" or getpass.getuser() == "root", reason="whom a folder's mode keeps out")
def test_a_folder_that_cannot_be_written_is_said_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tmp_path.chmod(0o500)
    monkeypatch.chdir(tmp_path)
    assert surroundings.found()["folder_writable"] is False
    assert surroundings.found()["locks_work"] is None
    tmp_path.chmod(0o700)


def test_requirements_are_those_of_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    declared = [
        "torch>=2.9",
        "vl-convert-python>=1.7",
        'huggingface-hub>=1.0; extra == "hub"',
        "tokenizers>=0.22.1; extra == 'tokenizers'",
        "tiktoken; extra == 'tokenizers'",
        *[f"{name}; extra == 'all'" for name in ("huggingface-hub>=1.0", "tokenizers>=0.22.1", "tiktoken")],
        "tiktoken; extra == 'dev'",
        "pytest>=8; extra == 'dev'",
    ]
    monkeypatch.setattr(installation.metadata, "requires", lambda name: declared)
    assert installation.requirements() == {
        installation.CORE: ["torch", "vl-convert-python"],
        "hub": ["huggingface-hub"],
        "tokenizers": ["tokenizers", "tiktoken"],
    }
    monkeypatch.setattr(installation, "version", lambda name: None if name == "tiktoken" else "1.0")
    assert installation.versions()["tokenizers"] == {"tokenizers": "1.0", "tiktoken": None}
    assert "extra tokenizers" in (told := onechange("doctor").out)
    assert "tiktoken missing" in " ".join(told.split())
