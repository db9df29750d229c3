"""The written side: commands parse and do what the page shows, links lead somewhere, names and figures are right."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

from onechange.cli import app
from pages import PAGES, ROOT, blocks

LONGER_THAN_A_CHECK_ALLOWS = {
    "status",
    "plan",
    "run",
    "report",
    "sample",
    "measure",
    "compare",
    "export",
    "corpus",
    "tokenizer",
}
"""Verbs that prepare a corpus or need what another command made; `--dry-run` too."""


def commands(page: Path) -> list[list[str]]:
    """Every `onechange …` of the page's shell blocks, as words without the first; in console blocks after a ``$``."""
    lines = [line for block in blocks(page, "bash", "sh") for line in block.replace("\\\n", " ").splitlines()]
    for block in blocks(page, "console"):
        lines += [line[2:] for line in block.replace("\\\n", " ").splitlines() if line.startswith("$ ")]
    split = [shlex.split(line, comments=True) for line in lines]
    return [words[1:] for words in split if words and words[0].removeprefix(".venv/bin/") == "onechange"]


def parse(words: list[str]) -> None:
    """Fails where the command line does not take ``words``; runs nothing."""
    command: Any = typer.main.get_command(app)
    own = {option for parameter in command.params for option in parameter.opts}
    name, words = "", [word for word in words if word != "--help" and word not in own]
    while hasattr(command, "commands") and words:
        name = words.pop(0)
        assert name in command.commands, f"no verb {name!r}; there is {', '.join(command.commands)}"
        command = command.commands[name]
    if not hasattr(command, "commands"):
        command.make_context(name, words).close()


PARSED = [(page, words) for page in PAGES for words in commands(page)]


@pytest.mark.parametrize(("page", "words"), PARSED, ids=[f"{p.name}: {' '.join(w)}" for p, w in PARSED])
def test_every_command_parses(page: Path, words: list[str]):
    parse(words)


def test_a_command_that_does_not_parse_is_noticed():
    with pytest.raises(Exception, match="--sed"):
        parse(["run", "--sed", "3"])
    with pytest.raises(AssertionError, match="no verb 'rum'"):
        parse(["rum"])


def shown(page: Path) -> list[tuple[list[str], str]]:
    """The commands of a page's console blocks with the output that stands under each."""
    found = []
    for block in blocks(page, "console"):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            line, _, output = part.partition("\n")
            found.append((shlex.split(line)[1:], output))
    return found


def run(words: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]),
        "COLUMNS": "100",
        "NO_COLOR": "1",
    }
    return subprocess.run(
        [sys.executable, "-m", "onechange", *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
    )


def agrees(written: str, output: str) -> bool:
    """Whether ``output`` is what is ``written``. `…` stands for anything, on a line of its own for any lines or none.

    Spaces at the ends of lines are free.
    """
    pattern = ""
    for line in written.strip().splitlines():
        shown = ".*".join(re.escape(part) for part in line.rstrip().split("…"))
        pattern += r"(?:.*\n)*?" if line == "…" else rf"{shown} *\n"
    return re.fullmatch(pattern, output.strip() + "\n") is not None


def test_agreement():
    assert agrees("…\na … c\n…\nd\n…", "a b c   \nx\n\ny\nd\n")
    assert not agrees("a … c", "a b d")
    assert not agrees("a", "a\nb")
    assert not agrees("a … c", "a b\nc")


SESSION = shown(ROOT / "docs" / "commands.md")
CHEAP = [(words, output) for words, output in SESSION if words[0] not in LONGER_THAN_A_CHECK_ALLOWS]


@pytest.mark.parametrize(("words", "output"), CHEAP, ids=[" ".join(words) for words, _ in CHEAP])
def test_a_quick_command_gives_what_the_page_shows(words: list[str], output: str, tmp_path: Path):
    found = run(words, tmp_path)
    assert found.returncode == 0, found.stderr
    assert agrees(output, found.stdout), found.stdout


@pytest.mark.long
def test_the_session_of_the_commands_page_gives_what_it_shows(tmp_path: Path):
    for words, output in SESSION:
        found = run(words, tmp_path)
        assert found.returncode == 0, f"{' '.join(words)}: {found.stderr}"
        assert agrees(output, found.stdout), f"{' '.join(words)}:\n{found.stdout}"
    results = json.loads((tmp_path / "runs/first/results.json").read_text("utf-8"))
    page = (ROOT / "docs" / "results.md").read_text("utf-8")
    assert {key for key in keys(results) if f"`{key}`" not in page} == set()


def keys(results: dict[str, Any]) -> set[str]:
    """The keys of a study's results that `results.md` must explain."""
    arm = results["arms"][-1]
    run = arm["runs"][0]
    parts = (results, results["corpus"], arm, arm["versus_parent"], run, run["best"], run["history"][0])
    return {key for part in parts for key in part}


def test_every_verb_has_an_example():
    command: Any = typer.main.get_command(app)
    verbs = set()
    for name, found in command.commands.items():
        verbs |= {f"{name} {inner}" for inner in found.commands} if hasattr(found, "commands") else {name}
    examples = {" ".join(words) for words, _ in SESSION}
    assert {
        verb for verb in verbs if not any(f"{example} ".startswith(f"{verb} ") for example in examples)
    } == set()


# Links


def slug(heading: str) -> str:
    """The anchor that a heading gets on the usual hosts: lower case, hyphens for spaces, punctuation left out."""
    text = re.sub(r"[`*]|\[([^]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def headings(page: Path) -> set[str]:
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    return {slug(line) for line in re.findall(r"^#+ (.+)$", text, re.MULTILINE)}


def links(page: Path) -> list[str]:
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"`[^`\n]*`", "", text)
    found = re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r"(?:src|href)=\"([^\"]+)\"", text)
    return [link for link in found if not re.match(r"[a-z]+:", link)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path):
    for link in links(page):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{page.name}: {link}: no such file"
        if anchor and target.suffix == ".md":
            assert anchor in headings(target), f"{page.name}: {link}: no such heading"


def test_the_index_leads_to_every_page():
    index = ROOT / "docs" / "index.md"
    linked = {(index.parent / link.partition("#")[0]).resolve() for link in links(index)}
    missing = [str(page.relative_to(ROOT)) for page in PAGES if page.parent != ROOT and page != index]
    assert [name for name in missing if (ROOT / name) not in linked] == []


def test_tests_and_modules_that_pages_name_exist():
    for page in PAGES:
        for path, name in re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", page.read_text("utf-8")):
            if page.name == "add-a-component.md" and path == "tests/norm/test_scale_norm.py":
                continue
            assert (ROOT / path).is_file(), f"{page.name}: {path} does not exist"
            assert f"def {name}(" in (ROOT / path).read_text("utf-8") or not name, f"{page.name}: no {name}"
