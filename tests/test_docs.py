"""The written side: commands parse, links lead somewhere, names and figures are right."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer

from documented_commands import commands
from onechange.cli import app
from pages import PAGES, ROOT


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


PARSED = [
    (page, list(found.words[1:]))
    for page in PAGES
    for found in commands(page)
    if found.words[0] == "onechange"
]


@pytest.mark.parametrize(("page", "words"), PARSED, ids=[f"{p.name}: {' '.join(w)}" for p, w in PARSED])
def test_every_command_parses(page: Path, words: list[str]):
    parse(words)


def unknown(said: str) -> list[str]:
    """The verbs and options that there are not, of a command as a sentence names it, in part or whole."""
    command: Any = typer.main.get_command(app)
    words = shlex.split(said)
    while hasattr(command, "commands") and words:
        if words[0] not in command.commands:
            return words[:1]
        command = command.commands[words.pop(0)]
    options = {option for parameter in command.params for option in parameter.opts} | {"--help"}
    return [word for word in words if word.startswith("--") and word not in options]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_that_a_sentence_names_exists(page: Path):
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    named = re.findall(r"`onechange ([a-z][^`]*)`", text)
    assert [(said, wrong) for said in named if (wrong := unknown(said))] == []


def test_a_verb_or_an_option_that_there_is_not_is_noticed():
    assert unknown("run … --seeds 3 --resum") == ["--resum"]
    assert unknown("tokenizer lern bpe") == ["lern"]
    assert unknown("tokenizer") == unknown("measure RUN --data SOURCE") == []


def test_a_command_that_does_not_parse_is_noticed():
    with pytest.raises(Exception, match="--sed"):
        parse(["run", "--sed", "3"])
    with pytest.raises(AssertionError, match="no verb 'rum'"):
        parse(["rum"])


SESSION = [words for page, words in PARSED if page.name == "commands.md"]


def test_every_verb_has_an_example():
    command: Any = typer.main.get_command(app)
    verbs = set()
    for name, found in command.commands.items():
        verbs |= {f"{name} {inner}" for inner in found.commands} if hasattr(found, "commands") else {name}
    examples = {" ".join(words) for words in SESSION}
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
