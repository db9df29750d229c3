"""What shells are offered: asked as bash, zsh, fish and PowerShell ask, and without importing anything large."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from onechange import family, study_file
from onechange.verbs import completing, exporting

PROGRAM = "import sys; sys.argv[0] = 'onechange'; from onechange.cli import main; main()"
LARGE = ("torch", "numpy", "scipy", "numba", "altair", "safetensors", "jinja2")
STUDY = """
[base]
name = "first"
[[arm]]
name = "second"
from = "first"
[[arm]]
name = "$(touch here)"
[scale.own]
"""


def asked(shell: str, line: str, folder: Path) -> tuple[list[str], str]:
    """What onechange answers a shell whose line is ``line``, and which modules it imported."""
    words = line.split(" ")
    environment = {
        "bash": {"COMP_WORDS": "\n".join(words), "COMP_CWORD": str(len(words) - 1)},
        "zsh": {"_TYPER_COMPLETE_ARGS": line},
        "fish": {"_TYPER_COMPLETE_ARGS": line, "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
        "powershell": {"_TYPER_COMPLETE_ARGS": line, "_TYPER_COMPLETE_WORD_TO_COMPLETE": words[-1]},
    }[shell]
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", PROGRAM],
        env={**os.environ, **environment, "_ONECHANGE_COMPLETE": f"complete_{shell}"},
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done.stdout.split("\n"), done.stderr


@pytest.mark.parametrize(
    ("shell", "answer"),
    [
        ("bash", "positions"),
        ("zsh", "_arguments '*: :((\"positions\"))'"),
        ("fish", "positions"),
        ("powershell", "positions::: "),
    ],
)
def test_every_shell_is_answered_in_its_way(shell: str, answer: str, tmp_path: Path) -> None:
    found, imported = asked(shell, "onechange run pos", tmp_path)
    assert [line for line in found if line] == [answer]
    modules = {line.rpartition("|")[2].strip().partition(".")[0] for line in imported.splitlines()}
    assert "onechange" in modules and not modules & set(LARGE)


class Context:
    """As much of typer's as completion reads."""

    def __init__(self, **params: object) -> None:
        self.params = params


def test_names_are_those_that_there_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert completing.studies("") == sorted(study_file.builtin())
    for name in family.FAMILIES:
        assert completing.members(name) == family.members(name)
    assert completing.lists("po") == ["position"]
    assert completing.corpora("") == ["storyworld", "tinystories", "tinystories:", "file:"]
    assert completing.trackers("") == ["tensorboard"]
    assert completing.formats("") == [*exporting.FORMATS]


def test_scales_and_arms_are_the_studys_own(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(STUDY, encoding="utf-8")
    context = Context(study=str(file))
    assert completing.scales(context, "") == ["tiny", "quick", "full", "large", "own"]
    assert completing.arms(context, "") == ["first", "second"], "what a shell could execute is not offered"
    assert completing.arms(Context(study=None), "bpe") == ["bpe-wpe", "bpe-rope"]
    file.write_text("base = 3\narm = 4\nscale = [1]", encoding="utf-8")
    assert completing.arms(context, "") == ["base"]
    file.write_text("half [", encoding="utf-8")
    assert "own" not in completing.scales(context, "")


def test_folders_of_runs_and_studies_are_found_by_their_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run = Path("runs/first/arms/bpe/seed-0")
    (run / "checkpoints/step-000040").mkdir(parents=True)
    (run / "recipe.toml").touch()
    (run / "tokenizer.json").touch()
    Path("runs/first/start.json").touch()
    Path("runs/$(touch here)").mkdir()
    Path("runs/$(touch here)/recipe.toml").touch()
    Path("text.txt").touch()
    assert completing.runs("") == completing.runs("runs/fi") == [str(run)]
    assert completing.runs("elsewhere/") == []
    assert completing.studied("ru") == ["runs/first"]
    assert completing.tokenizers("runs/") == [str(run)]
    assert completing.checkpoints(Context(runs=[run]), "") == ["best", "last", "step-40"]
    assert completing.checkpoints(Context(run=run), "s") == ["step-40"]
    assert completing.corpora("file:te") == ["file:text.txt"]
    Path("my.toml").touch()
    assert completing.studies("m") == ["my.toml"]
