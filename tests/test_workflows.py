"""The workflows of the public repository: they try what pyproject.toml claims, and run nothing that there is not."""

import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).parents[1]
FILES = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
WORKFLOWS: dict[str, Any] = {path.stem: yaml.safe_load(path.read_text("utf-8")) for path in FILES}
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
OF_THE_SYSTEM = {"cd", "test"}
LATER = set() if (ROOT / "mkdocs.yml").is_file() else {"docs"}
"""Targets that come with what they are for."""

STEPS = [
    (name, step)
    for name, found in WORKFLOWS.items()
    for job in found["jobs"].values()
    for step in job["steps"]
]
COMMANDS = [
    shlex.split(line) for _, step in STEPS for line in step.get("run", "").splitlines() if line.strip()
]


def test_there_are_workflows() -> None:
    assert WORKFLOWS.keys() == {"check", "docs", "long", "package"} and len(COMMANDS) > 15


def test_every_python_and_system_is_tried() -> None:
    matrix = WORKFLOWS["check"]["jobs"]["test"]["strategy"]["matrix"]
    claimed = [found[1] for one in PROJECT["classifiers"] if (found := re.search(r":: (3\.\d+)$", one))]
    assert matrix["python"] == claimed
    assert PROJECT["requires-python"] == f">={claimed[0]}"
    assert {system.partition("-")[0] for system in matrix["system"]} == {"ubuntu", "macos", "windows"}


def test_every_command_is_one_that_there_is() -> None:
    tools = {re.split(r"[>\[]", one)[0] for one in PROJECT["optional-dependencies"]["dev"]}
    for words in COMMANDS:
        program = Path(words[0]).name
        if program == "make":
            assert set(words[1:]) <= TARGETS | LATER, words
        elif program == "python":
            assert words[1] == "-m" and words[2] in {"pip", "pytest", "twine", "venv"}, words
        else:
            assert program in tools | OF_THE_SYSTEM | {"onechange", "pip"}, words
        for word in words:
            if "constraints" in word:
                assert (ROOT / word).is_file(), words
            if extras := re.fullmatch(r"\.\[(.+)\]", word):
                assert set(extras[1].split(",")) <= PROJECT["optional-dependencies"].keys(), words


def test_commands_of_every_system_are_plain() -> None:
    """Of PowerShell and bash alike: no variables, no joining, no make."""
    for step in WORKFLOWS["check"]["jobs"]["test"]["steps"]:
        assert not re.search(r"[$&|;\\]|\bmake\b", step.get("run", "")), step


def test_nothing_may_do_more_than_it_must() -> None:
    for name, found in WORKFLOWS.items():
        assert found["permissions"] == {"contents": "read"}
        assert "concurrency" in found
        for title, job in found["jobs"].items():
            assert job["timeout-minutes"] <= 180
            assert job.get("permissions", {}) == (
                {"id-token": "write"} if (name, title) == ("package", "publish") else {}
            )
    assert all("secrets." not in path.read_text("utf-8") for path in FILES)
    assert WORKFLOWS["package"]["jobs"]["publish"]["if"] == "startsWith(github.ref, 'refs/tags/v')"


def test_actions_are_pinned_to_majors() -> None:
    used = [step["uses"] for _, step in STEPS if "uses" in step]
    assert used and all(
        re.fullmatch(r"actions/[a-z-]+@v\d+|pypa/gh-action-pypi-publish@release/v1", one) for one in used
    )


def test_the_form_for_reports_asks_for_the_doctor() -> None:
    form = yaml.safe_load((ROOT / ".github" / "ISSUE_TEMPLATE" / "bug.yml").read_text("utf-8"))
    assert any("onechange doctor" in part["attributes"]["label"] for part in form["body"])
    assert all(part["type"] == "textarea" for part in form["body"])
