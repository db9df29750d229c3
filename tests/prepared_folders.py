"""Folders in which a page of the documentation finds what it assumes: texts, a study file, finished studies."""

import re
import shutil
from importlib import resources
from itertools import islice
from pathlib import Path

from documented_commands import SHORT_TEXT, Command
from onechange import family
from pages import ROOT, blocks
from small_studies import onechange

CHARACTERS = 60_000


def finished(folder: Path) -> Path:
    """A finished study with the arms of the default one, in seconds; the text it learned from lies beside it."""
    write_stories(folder / SHORT_TEXT.removeprefix("file:"), 0)
    outcome = onechange(
        "run", "--scale", "tiny", "--data", f"file:{folder}/short-stories.txt", "--out", folder / "study"
    )
    assert outcome.status == 0, outcome.err
    return folder


def write_stories(path: Path, first: int) -> None:
    """A short text of generated stories, from the one of number ``first`` on."""
    source = family.build("corpus", family.resolve("corpus", "storyworld"))
    stories, length = [], 0
    for story in islice(source.documents(), first, None):
        stories.append(story)
        length += len(story)
        if length > CHARACTERS:
            break
    path.write_text("\n<|endoftext|>\n".join(stories), "utf-8")


def prepare(folder: Path, study: Path, commands: list[Command], programs: list[str]) -> None:
    """Fill ``folder`` with what a page's ``commands`` and Python ``programs`` name and its commands do not make.

    ``study``: a folder of `finished`.
    """
    for name in ("short-stories.txt", "my-stories.txt", "other-stories.txt", "story.txt"):
        shutil.copy(study / "short-stories.txt", folder / name)
    said = [word for command in commands for word in command.words]
    made = {
        word
        for command in commands
        for before, word in zip(command.words, command.words[1:], strict=False)
        if before in ("new", "--out")
    }
    for name in {"runs/my-study", *re.findall(r"runs/[\w-]+", " ".join([*said, *programs]))} - made:
        shutil.copytree(study / "study", folder / name, dirs_exist_ok=True)
    if "my-study.toml" not in made:
        content = resources.files("onechange").joinpath("new_study.toml").read_text("utf-8")
        (folder / "my-study.toml").write_text(content, "utf-8")
    if "overfit.toml" in said:
        (folder / "overfit.toml").write_text(_overfit(), "utf-8")


def _overfit() -> str:
    """`docs/findings/stories.md`: its lines, "otherwise as tokenizers-and-positions"."""
    lines = next(block for block in blocks(ROOT / "docs/findings/stories.md", "toml") if "otherwise" in block)
    corpus, scale = lines.split("\n", 1)
    content = (
        resources.files("onechange.studies").joinpath("tokenizers-and-positions.toml").read_text("utf-8")
    )
    content = re.sub(r"^corpus = .*$", corpus, content, flags=re.MULTILINE)
    return content if "[scale.quick]" in content else content + "\n" + scale
