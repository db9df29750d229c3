"""The written side: commands parse and do what pages show, links lead somewhere, names and figures are the code's."""

import importlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer

from onechange import family, study
from onechange.cli import app
from onechange.scale import SCALES

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    page
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    if page.is_file() and page.stat().st_size
)
LONGER_THAN_A_CHECK_ALLOWS = {"run", "report", "sample", "measure", "corpus", "tokenizer"}
"""Verbs that prepare a corpus or need what another command made; `--dry-run` too."""


def blocks(page: Path, *kinds: str) -> list[str]:
    """The fenced blocks of ``page`` whose fence names one of ``kinds``."""
    found = re.findall(r"^```(\w+)\n(.*?)^```$", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    return [content for kind, content in found if kind in kinds]


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
    name, words = "", [word for word in words if word != "--help"]
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
            if page.name == "add-a-component.md" and path == "tests/norm/test_scale.py":
                continue
            assert (ROOT / path).is_file(), f"{page.name}: {path} does not exist"
            assert f"def {name}(" in (ROOT / path).read_text("utf-8") or not name, f"{page.name}: no {name}"


# The reference of study files


def tables(page: Path) -> list[list[list[str]]]:
    """Every table of ``page``: rows of cells, the heading first."""
    found: list[list[list[str]]] = []
    for line in page.read_text("utf-8").splitlines():
        if not line.startswith("|"):
            found.append([])
        elif not set(line) <= set("|-: "):
            found[-1].append([cell.strip() for cell in line.strip("|").split(" |")])
    return [table for table in found if table]


def table(*heading: str) -> list[list[str]]:
    """The rows of the one table of `study-files.md` with this heading."""
    (found,) = [rows for rows in tables(ROOT / "docs" / "study-files.md") if rows[0] == list(heading)]
    return found[1:]


def value(cell: str) -> Any:
    return tomllib.loads(f"value = {cell.strip('`')}")["value"] if cell else None


def test_every_key_of_the_base_is_listed_with_its_default():
    listed = {row[0].strip("`"): value(row[1]) for row in table("key", "default", "what it is")}
    assert listed == study.DEFAULTS


def test_the_built_in_scales_are_those_listed():
    rows = table("key", *(f"`{name}`" for name in SCALES))
    listed: dict[str, dict[str, Any]] = {}
    for place, name in enumerate(SCALES, start=1):
        listed[name] = {row[0].strip("`"): value(row[place]) for row in rows if row[place]}
    assert listed == SCALES


def test_every_key_of_a_study_and_an_arm_is_listed():
    top = {row[0].strip("`") for row in table("key", "what it is", "if it is left out")}
    assert top == set(study.Study.__struct_encode_fields__)
    assert {row[0].strip("`") for row in table("key", "what it is")} == set(
        study.Arm.__struct_encode_fields__
    )


# Names


def test_every_example_study_resolves(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    norm = importlib.import_module("onechange.norm")
    monkeypatch.setattr(norm, "__path__", [*norm.__path__, str(tmp_path)])
    (tmp_path / "scale.py").write_text(example("norm/scale.py"), "utf-8")
    found = 0
    for page in PAGES:
        for content in blocks(page, "toml"):
            table = tomllib.loads(content)
            if "question" in table:
                found += 1
                read = study.parse(content.encode())
                for arm in read.arm_names:
                    for scale in (*SCALES, *read.scales):
                        read.settings(arm, scale)
            for key, given in table.items():
                if key in family.FAMILIES:
                    family.resolve(key, given)
    assert found >= 2


def test_every_member_that_a_page_names_exists():
    named = set()
    for page in PAGES:
        for kind, word in re.findall(r"\b(\w+) = (?:\{ name = )?\"([\w-]+)\"", page.read_text("utf-8")):
            if kind in family.FAMILIES:
                named.add((kind, word))
    mistakes = {("position", "ropey"), ("tokenizr", "bpe")}
    assert ("position", "rope") in named
    for kind, word in named - mistakes - {("norm", "scale")}:
        assert word in family.members(kind), f"{kind} = {word!r}"


# The worked example


def example(name: str) -> str:
    """The code block under the line that names the file, in `add-a-component.md`."""
    text = (ROOT / "docs" / "add-a-component.md").read_text("utf-8")
    found = re.search(rf"^`[\w/.-]*{re.escape(name)}`:\n\n```\w+\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert found, f"no block for {name}"
    return found[1]


def test_the_worked_example_fulfils_the_contract(tmp_path: Path):
    copied = shutil.ignore_patterns("__pycache__")
    for folder in ("src", "tests"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=copied)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "src/onechange/norm/scale.py").write_text(example("norm/scale.py"), "utf-8")
    (tmp_path / "tests/norm/test_scale.py").write_text(example("norm/test_scale.py"), "utf-8")
    tests = ["tests/contract/test_norm.py", "tests/norm/test_scale.py"]
    found = subprocess.run(
        [sys.executable, "-m", "pytest", "-k", "scale", "-p", "no:cacheprovider", "-m", "not long", *tests],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "src")},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert found.returncode == 0, found.stdout
    passed = re.search(r"(\d+) passed", found.stdout)
    assert passed and int(passed[1]) >= 18, found.stdout
