"""Every command of the documentation is run, page by page, each page in a folder that holds what it assumes.

How a command is run, and what is changed about it, says `tests/documented_commands.py`.
"""

import contextlib
import doctest
import io
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from documented_commands import (
    FOLLOWED,
    SHELLS,
    Command,
    adapted,
    commands,
    in_tiny,
    is_ours,
    of_all_pages,
    rule,
)
from documented_output import agrees
from pages import PAGES, ROOT, blocks
from prepared_folders import finished, prepare
from small_studies import onechange

TEXT = {"toml", "json", "text", "python"}
"""What fenced blocks may hold beside commands."""
SOON_DONE = ("new", "list", "doctor")
"""Verbs that are quick enough for the everyday tests."""
ON_PAGES = [page for page in PAGES if list(commands(page)) or blocks(page, "python")]


def test_every_command_fits_a_rule():
    found = [(rule(command), command) for command in of_all_pages()]
    for name, command in found:
        if name == "ours":
            adapted(command)
    assert {"installs", "makes", "serves", "joins machines", "ours"} <= {name for name, _ in found}


def test_a_command_that_fits_no_rule_is_noticed():
    for words in (("curl", "https://x.org"), ("pip", "install", "onechange[nothing]"), ("make", "coffee")):
        with pytest.raises(AssertionError, match=r"README\.md:3: .*no rule says"):
            rule(Command("README.md", 3, words, ""))
    with pytest.raises(AssertionError, match="nothing is known to stand for FORM"):
        adapted(Command("README.md", 3, ("onechange", "sample", "RUN", "--to", "FORM"), ""))


def test_what_is_changed_about_a_command():
    told = {
        "run --data storyworld": "run --data storyworld --scale tiny",
        "run positions --scale quick --data tinystories": "run positions --scale tiny --data file:short-stories.txt",
        "run a.toml --cluster 10.0.0.1:6379": "run a.toml --cluster local --scale tiny --data file:short-stories.txt",
        "plan runs/x-quick-storyworld": "plan runs/x-tiny-storyworld",
        "plan runs/my-study-quick-storyworld/a": "plan runs/my-study-tiny-file/a",
        "sample RUN RUN": "sample runs/my-study/arms/bpe-wpe/seed-0 runs/my-study/arms/bpe-rope/seed-0",
        "measure runs/first --data file:a.txt": "measure runs/first --data file:a.txt",
    }
    for written, run in told.items():
        assert " ".join(adapted(Command("x.md", 1, ("onechange", *written.split()), ""))) == run


def test_every_fenced_block_is_of_a_kind_that_tests_know():
    for page in PAGES:
        kinds = re.findall(r"^```(\w*)\n.*?^```$", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
        assert set(kinds) <= {*SHELLS, *TEXT}, page
        hidden = re.findall(
            r"^ {4}(?:\$ )?(?:onechange|pip|make|torchrun) .*", page.read_text("utf-8"), re.MULTILINE
        )
        assert hidden == [], f"{page}: commands stand in fenced blocks"


def test_agreement():
    assert agrees("…\na … c\n…\nd\n…", "a b c   \nx\n\ny\nd\n")
    assert not agrees("a … c", "a b d")
    assert not agrees("a", "a\nb")
    assert not agrees("a … c", "a b\nc")


def test_pages_are_read_as_they_stand(tmp_path: Path):
    text = "```bash\na --b \\\n    c  # d\ne\n```\n\n```console\n$ f \\\n  g\nh\n…\n$ i\n```\n\n```text\nj\n```\n"
    (tmp_path / "x.md").write_text(text, "utf-8")
    found = [(c.line, c.words, c.shown) for c in commands(tmp_path / "x.md")]
    assert found == [(2, ("a", "--b", "c"), ""), (4, ("e",), ""), (8, ("f", "g"), "h\n…"), (12, ("i",), "")]


@pytest.fixture(scope="session")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return finished(tmp_path_factory.mktemp("finished"))


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in, for this process and those that it starts."""
    monkeypatch.chdir(tmp_path)
    for name, value in {
        "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT / 'src'}",
        "XDG_CACHE_HOME": str(tmp_path.parent / "cache"),
        "BROWSER": "true",  # what `--open` starts
        "COLUMNS": "100",
        "NO_COLOR": "1",
    }.items():
        monkeypatch.setenv(name, value)
    return tmp_path


QUICK = [
    c
    for c in of_all_pages()
    if is_ours(c) and c.page not in FOLLOWED and (c.words[1] in SOON_DONE or "--help" in c.words)
]


@pytest.mark.parametrize("command", QUICK, ids=str)
def test_a_quick_command(command: Command, place: Path):
    perform(command)


@pytest.mark.long
@pytest.mark.parametrize("page", ON_PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_page(page: Path, place: Path, study: Path):
    listed, programs = list(commands(page)), blocks(page, "python")
    prepare(place, study, listed, programs)
    for command in listed:
        perform(command)
    if page.relative_to(ROOT).as_posix() not in FOLLOWED:
        run_programs(page, programs)
    if page.name == "commands.md":
        results = json.loads((place / "runs/first/results.json").read_text("utf-8"))
        explained = (ROOT / "docs" / "results.md").read_text("utf-8")
        assert {key for key in keys(results) if f"`{key}`" not in explained} == set()


def keys(results: dict[str, Any]) -> set[str]:
    """The keys of a study's results that `results.md` must explain."""
    arm = results["arms"][-1]
    run = arm["runs"][0]
    parts = (results, results["corpus"], arm, arm["versus_parent"], run, run["best"], run["history"][0])
    return {key for part in parts for key in part}


def run_programs(page: Path, programs: list[str]) -> None:
    """A page's Python, in order; where prompts stand in it, with the answers that the page shows."""
    names: dict[str, object] = {"__name__": page.stem}
    for program in programs:
        if ">>> " not in program:
            exec(compile(program, str(page), "exec"), names)
    if any(">>> " in program for program in programs):
        results = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
        assert results.attempted and not results.failed


def perform(command: Command) -> None:
    """Run ``command`` in this folder by its rule; an `AssertionError` says how it went wrong."""
    match rule(command):
        case "ours" if "--cluster" in command.words:
            run_apart([sys.executable, "-m", "onechange", *adapted(command)], command)
        case "ours":
            outcome = onechange(*adapted(command))
            assert outcome.status == 0, f"{command}: {outcome.err}"
            assert not command.shown or agrees(command.shown, outcome.out), f"{command}:\n{outcome.out}"
        case "serves":
            serve(command)
        case "joins machines":
            join(command)
        case "loads what was exported":
            assert run_apart([sys.executable, *command.words[1:]], command).strip()
        case "a benchmark":
            read_options(command)
        case _:  # followed by a test of its own, on another machine, installs, makes
            pass


def run_apart(words: list[str], command: Command) -> str:
    found = subprocess.run(words, capture_output=True, text=True, timeout=900)
    assert found.returncode == 0, f"{command}: {found.stdout}{found.stderr}"
    return found.stdout


def read_options(command: Command) -> None:
    """The benchmark knows every option of the ``command``."""
    told = run_apart([sys.executable, str(ROOT / command.words[1]), "--help"], command)
    unknown = [word for word in command.words[2:] if word.startswith("--") and word not in told]
    assert unknown == [], f"{command}: no option {unknown[0]}"


def join(command: Command) -> None:
    """`torchrun` with the first machine alone."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    place = command.words.index("-m")
    options = dict(zip(command.words[1:place:2], command.words[2:place:2], strict=True))
    options |= {"--nnodes": "1", "--master-addr": "127.0.0.1", "--master-port": port}
    program = [
        "-m",
        "onechange",
        *adapted(Command(command.page, command.line, command.words[place + 1 :], "")),
    ]
    start = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        *(word for pair in options.items() for word in pair),
    ]
    run_apart([*start, *program], command)


def serve(command: Command) -> None:
    """The server starts on a free port, says where, gives a page, and ends when it is interrupted."""
    words = [in_tiny(word) for word in command.words]
    program = {"onechange": "onechange", "tensorboard": "tensorboard.main"}[words[0]]
    server = subprocess.Popen(
        [sys.executable, "-m", program, *words[1:], "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    timer = threading.Timer(120, server.kill)
    timer.start()
    try:
        assert server.stdout is not None
        said, found = "", None
        while not found and (line := server.stdout.readline()):
            said, found = said + line, re.search(r"http://\S+", line)
        assert found, f"{command}: {said}"
        address = re.sub(r"//[^:/]+:", "//127.0.0.1:", found[0])
        with urllib.request.build_opener(urllib.request.HTTPCookieProcessor()).open(
            address, timeout=60
        ) as answer:
            assert answer.status == 200 and answer.read(), command
        server.send_signal(signal.SIGINT)
        server.communicate(timeout=60)
        assert server.returncode in (0, 130, -signal.SIGINT), f"{command}: status {server.returncode}"
    finally:
        timer.cancel()
        server.kill()
        server.communicate()


def test_python_that_is_wrong_is_noticed(place: Path):
    (place / "x.md").write_text("```python\n>>> 1 + 1\n3\n\n```\n", "utf-8")
    with pytest.raises(AssertionError), contextlib.redirect_stdout(io.StringIO()):
        run_programs(place / "x.md", blocks(place / "x.md", "python"))
    with pytest.raises(ZeroDivisionError):
        run_programs(place / "x.md", ["1 / 0"])
