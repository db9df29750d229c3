"""Every command line of the documentation, and the rule by which a test runs it. What fits no rule is an error.

A command is run as it stands, but for these changes (`adapted`, `serve`, `join`):

- a study runs at scale `tiny`, and a default folder's name says so;
- a run's text, unless it is named and at hand, is a short file of generated stories, and so says a default folder's
  name;
- ``RUN`` is the folder of a finished run, one after the other, and ``DIR`` one that is made;
- a cluster is that of this machine (`local`), and of several machines that `torchrun` joins there is the first alone;
- a server listens on a free port, answers one request, and is interrupted.
"""

import re
import shlex
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pages import PAGES, ROOT

SHELLS = ("bash", "sh", "shell", "console")
SHORT_TEXT = "file:short-stories.txt"
RUNS = ("runs/my-study/arms/bpe-wpe/seed-0", "runs/my-study/arms/bpe-rope/seed-0")
FOLLOWED = {"docs/how-to/add-a-component.md": "tests/test_add_a_component.py"}
"""Pages that a test of their own follows command by command, with the files that they show."""
ELSEWHERE = (
    "ssh -L 8765:127.0.0.1:8765 me@the-machine",
    "python -m venv study '&&' . study/bin/activate",
    "pip install torch --index-url https://download.pytorch.org/whl/cpu",
)
"""Commands that need another machine or make another environment: those and no others."""


@dataclass(frozen=True)
class Command:
    page: str
    line: int
    words: tuple[str, ...]
    shown: str
    """What the page says that it prints; empty where it shows nothing."""

    def __str__(self) -> str:
        return f"{self.page}:{self.line}: {shlex.join(self.words)}"


def commands(page: Path) -> Iterator[Command]:
    """The commands of the page's shell blocks, in order: every line, or in console blocks those after a ``$``."""
    name = page.relative_to(ROOT).as_posix() if page.is_relative_to(ROOT) else page.name
    text = page.read_text("utf-8")
    for block in re.finditer(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        if block[1] not in SHELLS:
            continue
        first = text.count("\n", 0, block.start()) + 2
        for line, content, shown in _lines(block[2], with_output=block[1] == "console"):
            if words := tuple(shlex.split(content, comments=True)):
                yield Command(name, first + line, words, shown)


def _lines(block: str, with_output: bool) -> Iterator[tuple[int, str, str]]:
    """The command lines of a block with their numbers and the output under each; a backslash joins two lines."""
    lines = block.replace("\\\n", "\\").splitlines()
    number = 0
    for position, line in enumerate(lines):
        content = line.replace("\\", " ")
        if not with_output:
            yield number, content, ""
        elif line.startswith("$ "):
            after = lines[position + 1 :]
            end = next((place for place, one in enumerate(after) if one.startswith("$ ")), len(after))
            yield number, content[2:], "\n".join(after[:end])
        number += 1 + line.count("\\")


def of_all_pages() -> list[Command]:
    return [command for page in PAGES for command in commands(page)]


# Rules


def is_followed(command: Command) -> bool:
    return command.page in FOLLOWED and (ROOT / FOLLOWED[command.page]).is_file()


def is_elsewhere(command: Command) -> bool:
    return shlex.join(command.words) in ELSEWHERE


def installs(command: Command) -> bool:
    """`pip install .`, or onechange with extras that there are. Installing itself is tested by CI and `make`."""
    words = tuple(word for word in command.words if word != "--upgrade")
    if words[:2] != ("pip", "install") or len(words) != 3:
        return False
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    found = re.fullmatch(r"(?:\.|onechange)(?:\[([\w,]+)\])?", words[2])
    return found is not None and set((found[1] or "ui").split(",")) <= set(extras)


def completes(command: Command) -> bool:
    """What sets up a shell. What the shell then asks, `tests/test_completion.py` asks too."""
    return command.words in {("onechange", f"--{what}-completion") for what in ("install", "show")}


def makes(command: Command) -> bool:
    """A target of the Makefile. CI calls `make check` and `make check-all`, which are made of others."""
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    return command.words[0] == "make" and len(command.words) == 2 and command.words[1] in targets


def benchmarks(command: Command) -> bool:
    """A program of `benchmarks/`: run by hand, so only its options are read."""
    return command.words[0] == "python" and (ROOT / command.words[1]).parent == ROOT / "benchmarks"


def loads(command: Command) -> bool:
    """The program in a folder that `onechange export` has made."""
    return command.words[0] == "python" and Path(command.words[1]).name == "load.py"


def joins(command: Command) -> bool:
    return command.words[0] == "torchrun"


def serves(command: Command) -> bool:
    return (
        command.words[:2] == ("onechange", "ui") or command.words[0] == "tensorboard"
    ) and "--help" not in command.words


def is_ours(command: Command) -> bool:
    return command.words[0] == "onechange"


RULES: dict[str, Callable[[Command], bool]] = {
    "followed by a test of its own": is_followed,
    "on another machine": is_elsewhere,
    "installs": installs,
    "makes": makes,
    "sets up a shell": completes,
    "a benchmark": benchmarks,
    "loads what was exported": loads,
    "joins machines": joins,
    "serves": serves,
    "ours": is_ours,
}


def rule(command: Command) -> str:
    """The name of the first rule that fits; an `AssertionError` where none does."""
    for name, fits in RULES.items():
        if fits(command):
            return name
    raise AssertionError(f"{command}: no rule says how a test runs it; see tests/documented_commands.py")


# Changes


def adapted(command: Command) -> list[str]:
    """The words after `onechange`, as they are run."""
    words = list(command.words[1:])
    runs = iter(RUNS)
    words = [next(runs) if word == "RUN" else word for word in words]
    words = ["exported" if word == "DIR" else word for word in words]
    words = [in_tiny(word) for word in words]
    words = [
        "local" if before == "--cluster" else word for before, word in zip(["", *words], words, strict=False)
    ]
    words = [SHORT_TEXT if word == "tinystories" else word for word in words]
    left = [word for word in words if re.fullmatch(r"…|[A-Z]{3,}", word)]
    assert not left, f"{command}: nothing is known to stand for {left[0]}"
    if words[0] == "run":
        words = _with(words, "--scale", "tiny")
        if "--data" not in words:
            words += ["--data", SHORT_TEXT]
    return words


def in_tiny(word: str) -> str:
    """``word``, where it is the default folder of a study that the page runs, as it is named when a test runs it."""
    word = word.replace("runs/my-study-quick-storyworld", "runs/my-study-tiny-file")
    return re.sub(r"-(quick|full)-storyworld(?=/|$)", "-tiny-storyworld", word)


def _with(words: list[str], option: str, value: str) -> list[str]:
    """``words`` with the value of ``option`` replaced, or the option added."""
    if option not in words:
        return [*words, option, value]
    place = words.index(option)
    return [*words[: place + 1], value, *words[place + 2 :]]
