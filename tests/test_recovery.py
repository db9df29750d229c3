"""A damaged checkpoint is known, set aside, and gone round: the run still ends bit for bit as if nothing had been."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from killed_runs import recipe, train
from onechange.checkpoint_reader import read
from onechange.training import Moment
from test_resume import AT_EVERY_STEP, UNSTEADY, files, pointers


class Stop(Exception):
    """Ends a run from outside, right after a step."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of the run that was left alone."""
    folder = tmp_path_factory.mktemp("whole")
    train(folder, recipe(**UNSTEADY))
    return files(folder)


@pytest.fixture
def stopped(tmp_path: Path) -> Path:
    """The same run stopped after step 10 of 12: best is step 8, the last is 10, the one before it 9."""

    def at_10(moment: Moment) -> None:
        if moment.step == 10:
            raise Stop

    with pytest.raises(Stop):
        train(tmp_path / "run", recipe(**UNSTEADY), watch=at_10, seconds_between_checkpoints=AT_EVERY_STEP)
    assert pointers(tmp_path / "run") == {"best": 8, "last": 10}
    return tmp_path / "run"


def flip(path: Path) -> None:
    """One bit of a file, in its middle."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(content)


def halve(path: Path) -> None:
    """The second half of a file is lost."""
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def resumed(run: Path) -> tuple[list[int], list[str]]:
    """The steps that a resume makes, and what it says."""
    steps: list[int] = []
    said: list[str] = []
    train(run, recipe(**UNSTEADY), watch=lambda moment: steps.append(moment.step), say=said.append)
    return steps, said


def sound(run: Path) -> dict[str, bytes]:
    """The files of a run but those that were set aside."""
    return {name: content for name, content in files(run).items() if "damaged/" not in name}


@pytest.mark.parametrize("damage", [flip, halve, Path.unlink])
@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("checkpoints/step-000010/model.safetensors", 10),
        ("checkpoints/step-000010/optimizer.safetensors", 10),
        ("checkpoints/step-000010/state.json", 10),
        ("checkpoints/step-000008/model.safetensors", 1),
        ("checkpoints/step-000008/optimizer.safetensors", 1),
        ("checkpoints/step-000008/state.json", 1),
        ("checkpoints/last.json", 11),
        ("checkpoints/best.json", 11),
        ("checkpoints/step-000009/model.safetensors", 11),
        ("metrics.jsonl", 1),
        ("timing.jsonl", 11),
    ],
)
def test_a_damaged_file_is_set_aside_and_the_run_ends_the_same(
    stopped: Path, whole: dict[str, bytes], name: str, first: int, damage: Callable[[Path], None]
):
    path = stopped / name
    damage(path)
    content = path.read_bytes() if path.exists() else None
    steps, said = resumed(stopped)
    assert steps == list(range(first, 13))
    assert sound(stopped) == whole
    aside = stopped / "checkpoints" / "damaged"
    if "step-000009" in name or (
        damage is Path.unlink and path.parent != stopped / "checkpoints/step-000010"
    ):
        return  # nobody needed it, or there is nothing to keep
    if name != "timing.jsonl":
        (line,) = said
        assert f"{path} is damaged: " in line
        assert line.endswith(f"going on from {f'step {first - 1}' if first > 1 else 'the start'}")
    if content is not None and (name != "timing.jsonl" or damage is flip):
        kept = [found.read_bytes() for found in aside.rglob(path.name)]
        assert content in kept, "set aside as it was found, not overwritten"


def test_a_sound_run_says_nothing_and_goes_on_from_its_last_step(stopped: Path, whole: dict[str, bytes]):
    steps, said = resumed(stopped)
    assert (steps, said) == ([11, 12], [])
    assert files(stopped) == whole


def test_a_run_without_a_good_checkpoint_begins_anew(stopped: Path, whole: dict[str, bytes]):
    for path in stopped.rglob("model.safetensors"):
        flip(path)
    steps, (line,) = resumed(stopped)
    assert steps == list(range(1, 13))
    assert line.count("model.safetensors is damaged") == 3
    assert sound(stopped) == whole
    assert len(list((stopped / "checkpoints" / "damaged").iterdir())) == 3


def test_what_was_set_aside_before_is_not_overwritten(stopped: Path, whole: dict[str, bytes]):
    path = stopped / "checkpoints/step-000010/model.safetensors"
    contents = []
    for _ in range(2):
        flip(path)
        contents.append(path.read_bytes())
        with pytest.raises(Stop):
            train(stopped, recipe(**UNSTEADY), watch=stop_at_10, seconds_between_checkpoints=AT_EVERY_STEP)
    resumed(stopped)
    assert sound(stopped) == whole
    aside = stopped / "checkpoints/damaged"
    found = [aside / name / path.name for name in ("step-000010", "step-000010-2")]
    assert [place.read_bytes() for place in found] == contents


def stop_at_10(moment: Moment) -> None:
    """Stops a run that is at step 10."""
    if moment.step == 10:
        raise Stop


def test_a_history_that_was_altered_within_its_lines_is_known(stopped: Path, whole: dict[str, bytes]):
    """It stays JSON, so only its mark tells."""
    path = stopped / "metrics.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rows[0]["validation_loss"] = 1e-3
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    _, (line,) = resumed(stopped)
    assert f"{path} is damaged: its beginning is not what was written" in line
    assert sound(stopped) == whole


def test_times_that_are_no_times_are_set_aside(stopped: Path, whole: dict[str, bytes]):
    path = stopped / "timing.jsonl"
    path.write_text(path.read_text() + '{"step": 10}\n{"step": 10, "seconds": "long"}\n')
    content = path.read_bytes()
    resumed(stopped)
    assert sound(stopped) == whole
    assert (stopped / "checkpoints/damaged/timing.jsonl").read_bytes() == content
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert [row["step"] for row in rows] == [*range(1, 11), 12]


@pytest.mark.parametrize("damage", [flip, halve])
def test_who_reads_a_run_is_told_which_file_is_damaged(
    tmp_path: Path, damage: Callable[[Path], None], stopped: Path
):
    from killed_runs import CORPUS, learn
    from onechange import atomic, tokenizer_file

    chosen = recipe(**UNSTEADY, corpus={"name": "storyworld", "characters": 100, "separator": "\n\n"})
    atomic.write(stopped / "recipe.toml", chosen.to_toml())
    tokenizer_file.save(learn(CORPUS, chosen.tokenizer), chosen.tokenizer, stopped / "tokenizer.json")
    assert read(stopped, "last").step == 10
    path = stopped / "checkpoints/step-000010/model.safetensors"
    damage(path)
    assert read(stopped, "best").step == 8
    before = files(stopped)
    with pytest.raises(ValueError, match=rf"^{path} is damaged: "):
        read(stopped, "last")
    assert files(stopped) == before, "who only reads changes nothing"
