"""A run's folder brought from where it is trained: at every moment the folder at home can be resumed."""

import os
import shutil
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from onechange import family, plan, recovery, replica, study_file
from onechange.checkpoint import Checkpoints
from onechange.dataset import Dataset
from onechange.history import History
from onechange.recipe import Recipe
from onechange.run import execute
from onechange.sampling import Sampling
from onechange.training import Moment
from small_studies import STUDY, files, in_haste
from small_studies import study_file as written

CHANGES = ("mkdir", "replace", "rename", "unlink", "rmdir")
"""What of `pathlib` changes a folder's entries."""


@pytest.fixture(scope="module", autouse=True)
def _alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with in_haste(tmp_path_factory.mktemp("cache")):
        yield


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Recipe, Dataset]:
    file = written(tmp_path_factory.mktemp("study"), STUDY)
    study = study_file.read(file)
    found = plan.Plan(study, "tiny", family.resolve("corpus", study.corpus), [0], study.arm_names)
    return found.recipe("plain", 0), found.dataset("plain")


def train(made: tuple[Recipe, Dataset], run: Path, watch: Callable[[Moment], None]) -> None:
    execute(*made, Sampling(tokens=8), ["The "], run, watch)


def reader(photo: Path) -> Callable[[str], Iterable[bytes]]:
    return lambda name: replica.pieces(photo / name)


@pytest.fixture(scope="module")
def stages(made: tuple[Recipe, Dataset], tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """What a run's folder holds after its steps 1, 3 and 6, and at its end."""
    folder = tmp_path_factory.mktemp("stages")
    run, found = folder / "run", []

    def watch(moment: Moment) -> None:
        if moment.validation_nats_per_character is not None:
            found.append(folder / f"step-{moment.step}")
            shutil.copytree(run, found[-1], copy_function=_as_written)

    train(made, run, watch)
    return [*found, run]


def _as_written(source: str, target: str) -> None:
    """A checkpoint's file stays the same one on the disk, others are replaced or written to."""
    (os.link if "/step-" in source.partition("/run/")[2] else shutil.copy2)(source, target)


def brought(source: Path, place: Path, home: Path, held: dict[str, replica.Mark]) -> dict[str, replica.Mark]:
    marks = replica.photograph(source, place)
    replica.bring(marks, held, reader(place), home)
    return marks


def instants(
    home: Path, albums: Path, monkeypatch: pytest.MonkeyPatch, work: Callable[[], object]
) -> list[Path]:
    """What a kill would leave of ``home`` before each change that ``work`` makes in a folder, and after the last."""
    found: list[Path] = []

    def remember() -> None:
        found.append(albums / str(len(found)))
        shutil.copytree(home, found[-1])

    with monkeypatch.context() as patch:
        for name in CHANGES:
            before = getattr(Path, name)

            def changing(self: Path, *given: Any, before: Any = before, **named: Any) -> Any:
                if self.is_relative_to(home):
                    remember()
                return before(self, *given, **named)

            patch.setattr(Path, name, changing)
        work()
    remember()
    return found


def resumable_from(run: Path, steps: int = 6) -> int:
    """The step that the run would go on from; nothing may be found damaged."""
    damaged: list[str] = []
    metrics, timing = History(run / "metrics.jsonl"), History(run / "timing.jsonl")
    found = recovery.settle(Checkpoints(run), metrics, timing, steps, damaged.append)
    assert not damaged, damaged
    return found


def test_what_is_brought_is_what_is_there(stages: list[Path], tmp_path: Path) -> None:
    home, held = tmp_path / "home", {}
    home.mkdir()
    for stage in stages:
        held = brought(stage, tmp_path / "photo", home, held)
        assert files(home, [".lock"]) == files(stage, [".lock"])
        assert not list(home.rglob("*.part"))


def test_a_cut_at_any_moment_leaves_a_folder_that_goes_on(
    stages: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, held, reached, seen = tmp_path / "home", {}, 0, 0
    home.mkdir()
    for stage in stages:
        photo = replica.photograph(stage, tmp_path / "photo")
        albums = tmp_path / f"albums-{stage.name}"

        def bring(photo: Any = photo, held: Any = held) -> None:
            replica.bring(photo, held, reader(tmp_path / "photo"), home)

        cuts = instants(home, albums, monkeypatch, bring)
        for cut in cuts:
            if (cut / "measures.json").exists():
                assert files(cut, [".lock"]) == files(stages[-1], [".lock"]), "measures.json comes last"
            found = resumable_from(cut)
            assert found >= reached, "what was saved once is not lost"
        reached = resumable_from(cuts[-1])
        held, seen = photo, seen + len(cuts)
    assert reached == 6
    assert seen > 40


@pytest.mark.long
def test_what_a_cut_leaves_ends_byte_for_byte_as_an_uncut_run(
    made: tuple[Recipe, Dataset], stages: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    held = brought(stages[0], tmp_path / "photo", home, {})
    photo = replica.photograph(stages[1], tmp_path / "photo")
    cuts = instants(
        home,
        tmp_path / "cuts",
        monkeypatch,
        lambda: replica.bring(photo, held, reader(tmp_path / "photo"), home),
    )
    expected = files(stages[-1])
    for cut in cuts:
        train(made, cut, lambda moment: None)
        assert files(cut) == expected


def test_only_what_has_changed_travels(stages: list[Path], tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    photo = tmp_path / "photo"
    run = shutil.copytree(stages[0], tmp_path / "run")
    held = brought(run, photo, home, {})
    asked: list[str] = []

    def read(name: str) -> Iterable[bytes]:
        asked.append(name)
        return replica.pieces(photo / name)

    replica.bring(replica.photograph(run, photo), held, read, home)
    assert asked == []
    with (run / "timing.jsonl").open("a") as file:
        file.write("\n")
    replica.bring(replica.photograph(run, photo), held, read, home)
    assert asked == ["timing.jsonl"]


@pytest.mark.long
def test_a_photograph_of_a_run_in_training_can_always_be_resumed(
    made: tuple[Recipe, Dataset], tmp_path: Path
) -> None:
    recipe, data = made
    often = msgspec.structs.replace(recipe, steps=15, evaluate_every=1)
    run, photo = tmp_path / "run", tmp_path / "photo"
    training = threading.Thread(target=train, args=((often, data), run, lambda moment: None))
    training.start()
    found: list[int] = []
    while training.is_alive():
        if (run / "checkpoints/last.json").exists():
            replica.photograph(run, photo)
            copy = tmp_path / "copy"
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(photo, copy)
            found.append(resumable_from(copy, often.steps))
    training.join()
    assert found == sorted(found)
    assert len(set(found)) > 3, found


def test_a_checkpoint_is_brought_again_only_where_it_is_another(stages: list[Path], tmp_path: Path) -> None:
    run, home, photo = tmp_path / "run", tmp_path / "home", tmp_path / "photo"
    shutil.copytree(stages[0], run)
    shutil.copytree(stages[0], home)
    asked: list[str] = []

    def read(name: str) -> Iterable[bytes]:
        asked.append(name)
        return replica.pieces(photo / name)

    held = replica.photograph(run, photo)
    replica.bring(held, {}, read, home)  # as after an attempt that was cut
    model = "checkpoints/step-000001/model.safetensors"
    assert model not in asked
    sound = (run / model).read_bytes()
    (home / model).write_bytes(b"damaged")  # found so and trained anew before it was looked at
    (run / model).unlink()
    (run / model).write_bytes(sound)
    replica.bring(replica.photograph(run, photo), held, read, home)
    assert (home / model).read_bytes() == sound


def test_a_name_that_leads_elsewhere_is_refused(tmp_path: Path) -> None:
    for name in ("../other", "/etc/passwd", "checkpoints/../../other"):
        with pytest.raises(ValueError, match="is none of a run's"):
            replica.bring({name: (1, 1, 1)}, {}, lambda name: [b"x"], tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


def test_links_locks_and_unfinished_files_are_none_of_a_runs(tmp_path: Path) -> None:
    (tmp_path / "checkpoints/step-000001.part").mkdir(parents=True)
    for name in (
        ".lock",
        "recipe.toml",
        "a.part",
        "checkpoints/last.json",
        "checkpoints/step-000001.part/state.json",
    ):
        (tmp_path / name).write_text("")
    (tmp_path / "secret").symlink_to("/etc/passwd")
    assert replica.names(tmp_path) == ["checkpoints/last.json", "recipe.toml"]
