"""`docs/how-to/add-a-component.md`, followed to the letter: its files as they stand, its commands."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from pages import ROOT, blocks

PAGE = ROOT / "docs" / "how-to" / "add-a-component.md"


def example(name: str) -> str:
    """The code block under the line that names the file."""
    text = PAGE.read_text("utf-8")
    found = re.search(rf"^`{re.escape(name)}`[^\n]*:\n\n```\w+\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert found, f"no block for {name}"
    return found[1]


def commands(program: str) -> list[list[str]]:
    """The page's commands of a ``program``, as words, in order."""
    lines = [shlex.split(line) for block in blocks(PAGE, "bash") for line in block.splitlines()]
    return [words for words in lines if words[0] == program]


def run(words: list[str], folder: Path, *modules: Path) -> str:
    program = [sys.executable, "-m", "onechange"] if words[0] == "onechange" else [sys.executable]
    found = subprocess.run(
        [*program, *words[1:]],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, modules)), "COLUMNS": "100"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert found.returncode == 0, found.stdout + found.stderr
    return found.stdout


def study(folder: Path, *, norm: str = "scale_norm.py") -> Path:
    """The page's study, and its file where that is what the study names."""
    folder.mkdir()
    if norm == "scale_norm.py":
        (folder / norm).write_text(example(norm), "utf-8")
    content = example("scale-norm.toml")
    assert 'change.norm = "scale_norm.py"' in content
    (folder / "scale-norm.toml").write_text(content.replace("scale_norm.py", norm), "utf-8")
    return folder


def install(folder: Path) -> Path:
    """What an installer makes of the page's package, without one."""
    project = tomllib.loads(example("pyproject.toml"))
    name, version = project["project"]["name"], project["project"]["version"]
    (package,) = project["tool"]["setuptools"]["packages"]
    (folder / package).mkdir(parents=True)
    (folder / package / "__init__.py").touch()
    (folder / package / "scale_norm.py").write_text(example("scale_norm.py"), "utf-8")
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    lines = []
    for group, entries in project["project"]["entry-points"].items():
        lines += [f"[{group}]", *(f"{key} = {value}" for key, value in entries.items())]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
    return folder


def norm_of_scale(out: Path) -> str:
    results = json.loads((out / "results.json").read_text("utf-8"))
    assert results["status"] == "finished"
    (arm,) = [arm for arm in results["arms"] if arm["name"] == "scale"]
    assert arm["runs"][0]["best"]["nats_per_character"] < 4.2  # less than by chance
    return arm["change"]["norm"]


@pytest.mark.long
def test_the_five_minutes(tmp_path: Path):
    folder = study(tmp_path / "beside")
    listed = [words for words in commands("onechange") if words[1] == "run"]
    assert [words[-1] for words in listed] == ["--dry-run", "storyworld"]
    assert "norm: scale_norm.py" in run(listed[0], folder, ROOT / "src")
    assert not (folder / "runs").exists()
    run(listed[1], folder, ROOT / "src")
    out = folder / "runs" / "scale-norm-tiny-storyworld"
    assert norm_of_scale(out) == "scale_norm.py"
    kept = out / "arms/scale/seed-0/components/norm/scale_norm.py"
    assert str(kept.relative_to(out)) in PAGE.read_text("utf-8")
    assert kept.read_text("utf-8") == example("scale_norm.py")
    assert not (out / "arms/layer/seed-0/components").exists()


@pytest.mark.long
def test_the_installed_package(tmp_path: Path):
    place = install(tmp_path / "site")
    (listing,) = [words for words in commands("onechange") if words[1] == "list"]
    listed = run(listing, tmp_path, ROOT / "src", place)
    assert re.search(r"^scale_norm$", listed, re.MULTILINE) and "norms-of-mine 0.1.0" in listed
    assert "norms-of-mine" not in run(listing, tmp_path, ROOT / "src")
    folder = study(tmp_path / "beside", norm="scale_norm")
    command = next(words for words in commands("onechange") if words[1] == "run" and "--dry-run" not in words)
    run(command, folder, ROOT / "src", place)
    out = folder / "runs" / "scale-norm-tiny-storyworld"
    assert norm_of_scale(out) == "scale_norm"
    environment = json.loads((out / "arms/scale/seed-0/environment.json").read_text("utf-8"))
    assert environment["components"]["norm"] == "norms-of-mine 0.1.0, version 1"


@pytest.mark.long
def test_file_and_package_learn_the_same(tmp_path: Path):
    place = install(tmp_path / "site")
    command = next(words for words in commands("onechange") if words[1] == "run" and "--dry-run" not in words)
    told = []
    for norm in ("scale_norm.py", "scale_norm"):
        folder = study(tmp_path / norm.replace(".", "-"), norm=norm)
        run(command, folder, ROOT / "src", place)
        run_folder = folder / "runs/scale-norm-tiny-storyworld/arms/scale/seed-0"
        told.append((run_folder / "metrics.jsonl").read_bytes())
    assert told[0] == told[1]


def test_the_file_fulfils_the_contract(tmp_path: Path):
    for folder in ("src", "tests"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "src/onechange/norm/scale_norm.py").write_text(example("scale_norm.py"), "utf-8")
    test = "tests/norm/test_scale_norm.py"
    (tmp_path / test).write_text(example(test), "utf-8")
    (command,) = commands("python")
    assert command[-1] == test
    chosen = ["-k", "scale_norm", "-p", "no:cacheprovider", "-m", "not long"]
    found = run([*command[:3], *chosen, *command[3:]], tmp_path, tmp_path / "src")
    passed = re.search(r"(\d+) passed", found)
    assert passed and int(passed[1]) >= 18, found
