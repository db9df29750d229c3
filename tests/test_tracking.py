"""Trackers are told what the runs' files hold, once, and can harm nothing; TensorBoard reads its files back."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

import small_trackers
from onechange import tracker, tracking
from onechange.history import History
from onechange.tracker.tensorboard import SCALARS, TensorBoard
from onechange.training import Moment
from pages import ROOT, blocks
from small_studies import files, in_haste, onechange, study_file
from small_trackers import Call, Hanging, Raising, Recorder
from test_between import Bench

ARM, SEED = RUN = ("a", 0)


class Watcher:
    """Keeps the notes and the ends."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.ends: list[tuple[str, int]] = []

    def watch(self, arm: str, seed: int, moment: Moment) -> None:
        pass

    def ended(self, arm: str, seed: int) -> None:
        self.ends.append((arm, seed))

    def say(self, note: str) -> None:
        self.notes.append(note)


@pytest.fixture(autouse=True)
def calls(monkeypatch: pytest.MonkeyPatch) -> list[Call]:
    """What recorders are told."""
    monkeypatch.setattr(tracking, "SECONDS_BETWEEN_LOOKS", 0.01)
    monkeypatch.setattr(Recorder, "calls", [])
    return Recorder.calls


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """The folder of a run before its first evaluation."""
    path = Bench(tmp_path).run(*RUN, 1.5)
    (path / "measures.json").rename(path / "kept.json")
    (path / "timing.jsonl").unlink()
    return path


def evaluated(run: Path, *steps: int, seconds: float = 1.0) -> None:
    """The run's evaluations are those after ``steps``, each ``seconds`` a step."""
    rows = [
        {
            "step": step,
            "tokens": step,
            "characters": step,
            "operations": 1.0,
            "batch_loss": 2.0 / step,
            **dict.fromkeys(("training_loss", "validation_loss"), 3.0 / step),
            **dict.fromkeys(("training_nats_per_character", "validation_nats_per_character"), 1.0 / step),
        }
        for step in steps
    ]
    times = [{"step": step, "seconds": seconds * step, "peak_memory_bytes": None} for step in steps]
    for name, content in ("metrics", rows), ("timing", times):
        (run / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in content))


def finish(run: Path) -> None:
    (run / "kept.json").rename(run / "measures.json")


def wait_for(what: Callable[[], bool]) -> None:
    until = time.monotonic() + 20
    while not what():
        assert time.monotonic() < until
        time.sleep(0.01)


def told(run: Path, kind: type[tracker.Tracker] = Recorder, unfinished: bool = True, watcher: Any = None):
    out = run.parents[2]
    return tracking.told({"some:one": kind}, out, {RUN: run}, [RUN] * unfinished, watcher or Watcher())


def test_rows_are_told_as_they_appear_and_measures_at_the_end(run: Path, calls: list[Call]):
    with told(run) as watcher:
        evaluated(run, 1, 2)
        wait_for(lambda: len(calls) == 3)
        evaluated(run, 1, 2, 4)
        wait_for(lambda: len(calls) == 4)
        finish(run)
        watcher.ended(*RUN)
    rows = [("row", *RUN, step, float(step)) for step in (1, 2, 4)]
    assert calls == [("begin", *RUN, 0, run), *rows, ("end", *RUN, 1.5), ("close",)]


def test_a_row_without_its_time_waits_for_it(run: Path, calls: list[Call]):
    evaluated(run, 1, 2)
    whole = (run / "timing.jsonl").read_text()
    (run / "timing.jsonl").write_text(whole.splitlines(keepends=True)[0])
    with told(run):
        wait_for(lambda: len(calls) == 2)
        time.sleep(0.05)
        assert calls[-1] == ("row", *RUN, 1, 1.0)
        (run / "timing.jsonl").write_text(whole)
        wait_for(lambda: len(calls) == 3)
    assert calls[-2:] == [("row", *RUN, 2, 2.0), ("close",)]


def test_files_that_did_not_change_are_not_read_again(
    run: Path, calls: list[Call], monkeypatch: pytest.MonkeyPatch
):
    read: list[Path] = []
    readable = History.readable
    monkeypatch.setattr(History, "readable", lambda self: (read.append(self.path), readable(self))[1])
    evaluated(run, 1, 2)
    with told(run):
        wait_for(lambda: len(calls) == 3)
        time.sleep(0.1)
    assert len(read) == 2


def test_rows_that_are_made_anew_are_told_anew_from_the_beginning(run: Path, calls: list[Call]):
    evaluated(run, 1, 2, 4)
    with told(run) as watcher:
        wait_for(lambda: len(calls) == 4)
        evaluated(run, 1, 2)  # the cut to the last checkpoint
        time.sleep(0.05)
        assert len(calls) == 4
        evaluated(run, 1, 2, 4, 6, seconds=0.5)
        finish(run)
        watcher.ended(*RUN)
    again = calls[4:]
    assert again[0][0] == "begin"
    assert [call[3:] for call in again if call[0] == "row"] == [(1, 0.5), (2, 1.0), (4, 2.0), (6, 3.0)]
    assert [call[0] for call in again].count("begin") == 1


def test_a_run_that_was_told_to_its_end_is_not_told_again(run: Path, calls: list[Call]):
    evaluated(run, 1, 2)
    finish(run)
    with told(run, unfinished=False):
        pass
    assert [call[0] for call in calls] == ["begin", "row", "row", "end", "close"]
    calls.clear()
    with told(run, unfinished=False):
        pass
    assert calls == [("close",)]
    (run.parents[2] / "tracking/some.one/told.json").write_text("no JSON")
    with told(run, unfinished=False):
        pass
    assert len(calls) == 6


def test_a_failed_run_ends_without_measures_and_is_told_again(run: Path, calls: list[Call]):
    evaluated(run, 1)
    for _ in range(2):
        calls.clear()
        with told(run) as watcher:
            watcher.ended(*RUN)
        assert [call[0] for call in calls] == ["begin", "row", "end", "close"] and calls[2][3] is None


def test_what_cannot_be_read_is_passed_over(run: Path, calls: list[Call]):
    evaluated(run, 1, 2)
    text = (run / "metrics.jsonl").read_text()
    (run / "metrics.jsonl").write_text('{"step": "x"}\nno JSON\n' + text + '{"step": 3, "tok')
    watcher = Watcher()
    with told(run, watcher=watcher):
        wait_for(lambda: len(calls) == 3)
    assert watcher.notes == [] and [call[3] for call in calls if call[0] == "row"] == [1, 2]


@pytest.mark.parametrize("where", ["__init__", "begin", "row", "end", "close"])
def test_one_that_raises_is_dropped_with_one_note(run: Path, where: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Raising, "where", where)
    evaluated(run, 1)
    finish(run)
    held, watcher = files(run), Watcher()
    with told(run, Raising, watcher=watcher) as telling:
        telling.ended(*RUN)
    (note,) = watcher.notes
    assert note == f"--track some:one: no network in {where}; tracking ends here, the runs go on"
    assert (watcher.ends, files(run)) == ([RUN], held)


def test_one_that_hangs_is_left_alone(run: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tracking, "PATIENCE", 0.1)
    evaluated(run, 1)
    watcher = Watcher()
    before = time.monotonic()
    with told(run, Hanging, watcher=watcher):
        pass
    assert time.monotonic() - before < 2
    assert watcher.notes == ["--track some:one: did not end within 0 s, it is left alone"]


# The words of `--track`.


def test_words_name_trackers(monkeypatch: pytest.MonkeyPatch):
    assert tracker.names() == ["tensorboard"] and tracker.find("tensorboard") is TensorBoard
    assert tracker.find("small_trackers:Recorder") is small_trackers.Recorder


@pytest.mark.parametrize(
    ("word", "named"),
    [
        ("wandb", ("'wandb'", "tensorboard or some.package:Class")),
        ("no_such_package:It", ("no_such_package", "cannot be imported")),
        ("small_trackers:Nothing", ("'Nothing' must be a class",)),
        ("small_trackers:Other", ("'Other' must be a class",)),
        ("small_trackers:Half", ("'Half' must be a class with all methods",)),
        (":", ("cannot be imported",)),
    ],
)
def test_a_word_that_names_none_leaves_no_folder(tmp_path: Path, word: str, named: tuple[str, ...]):
    for more in ((), ("--dry-run",)):
        outcome = onechange("run", "--out", tmp_path / "out", "--track", word, *more)
        assert (outcome.status, outcome.err.count("\n")) == (2, 1), outcome
        for one in named:
            assert one in outcome.err
    assert not (tmp_path / "out").exists()


def test_without_the_package_it_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delitem(sys.modules, "onechange.tracker.tensorboard")
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    outcome = onechange("run", "--track", "tensorboard")
    assert outcome.status == 2 and "pip install 'onechange[track]'" in outcome.err
    assert outcome.err.count("\n") == 1


def test_the_example_of_the_page_works(run: Path):
    (block,) = blocks(ROOT / "docs/trackers.md", "python")
    names: dict[str, Any] = {}
    exec(block, names)
    evaluated(run, 1, 4)
    finish(run)
    with told(run, names["Lines"]) as watcher:
        watcher.ended(*RUN)
    lines = (run.parents[2] / "tracking/some.one/a-0.txt").read_text().splitlines()
    assert lines[1:] == ["step 1: 1.0000", "step 4: 0.2500", "1.5000"] and lines[0].startswith(
        "learning rate 0"
    )


def test_the_page_names_every_scalar():
    page = (ROOT / "docs/trackers.md").read_text("utf-8")
    assert [name for name in SCALARS if f"`{name}`" not in page] == []


# TensorBoard.


def scalars(folder: Path) -> dict[str, list[tuple[int, float]]]:
    """Every scalar of a run by TensorBoard's own reader, which keeps all of them; steps as they stand there."""
    found = EventAccumulator(str(folder), size_guidance={"scalars": 0}).Reload()
    return {
        tag: [(event.step, event.value) for event in found.Scalars(tag)] for tag in found.Tags()["scalars"]
    }


def test_tensorboard_reads_back_what_was_told_and_no_step_twice(run: Path):
    evaluated(run, 1, 2, 4)
    with told(run, TensorBoard):
        pass
    evaluated(run, 1, 2, 4, 6, seconds=0.5)
    finish(run)
    with told(run, TensorBoard) as watcher:
        watcher.ended(*RUN)
    found = scalars(run.parents[2] / "tracking/some.one/a/seed-0")
    assert found["nats_per_token/validation"] == [(n, pytest.approx(3 / n)) for n in (1, 2, 4, 6)]
    assert found["spent/seconds"] == [(n, pytest.approx(n / 2)) for n in (1, 2, 4, 6)]
    assert found["ruler_best/nats_per_character"] == [(6, pytest.approx(1.5))]
    assert {*found} == {*SCALARS, *(f"ruler_{w}/{k}" for w in ("best", "last") for k in FIGURES)}


FIGURES = ("nats_per_character", "nats_per_token", "bits_per_byte")


def test_only_event_files_are_taken_away(run: Path):
    evaluated(run, 1)
    folder = run.parents[2] / "tracking/some.one/a/seed-0"
    folder.mkdir(parents=True)
    (folder / "notes.txt").write_text("mine")
    with told(run, TensorBoard):
        pass
    assert (folder / "notes.txt").read_text() == "mine" and len([*folder.iterdir()]) == 2


# Studies.


@pytest.fixture
def haste(tmp_path: Path) -> Iterator[None]:
    with in_haste(tmp_path / "cache"):
        yield


def agrees_with_the_files(out: Path, arm: str, seed: int) -> None:
    """TensorBoard's scalars are the history of `results.json`."""
    results = json.loads((out / "results.json").read_text())
    (found,) = [one for one in results["arms"] if one["name"] == arm]
    history = found["runs"][seed]["history"]
    assert [row["step"] for row in history] == [1, 3, 6]
    told = scalars(out / "tracking/tensorboard" / arm / f"seed-{seed}")
    for tag, key in SCALARS.items():
        assert told[tag] == [(row["step"], pytest.approx(row[key], rel=1e-6)) for row in history]


def test_a_study_is_tracked_and_its_files_are_as_without(tmp_path: Path, haste: None):
    """Also one tracker of someone else's that raises."""
    words = ["run", study_file(tmp_path), "--scale", "tiny", "--arm", "plain", "--out"]
    assert onechange(*words, tmp_path / "without").status == 0
    trackers = "--track", "tensorboard", "--track", "small_trackers:Raising"
    outcome = onechange(*words, tmp_path / "out", *trackers)
    assert outcome.status == 0 and outcome.err.count("no network in row; tracking ends here") == 1
    agrees_with_the_files(tmp_path / "out", "plain", 0)
    tracked = files(tmp_path / "out")
    events = [name for name in tracked if name.startswith("tracking/")]
    assert len(events) == 2  # and what was told
    for name in events:
        del tracked[name]
    assert tracked == files(tmp_path / "without")


KILL = """
import os, signal, sys, time
from onechange import cli, laboratory
from onechange.checkpoint import Checkpoints
save = Checkpoints.save
def die(self, step, *rest):
    if step == 6:
        time.sleep(2)  # the row is there, its checkpoint never will be: time enough to tell it
        os.kill(os.getpid(), signal.SIGKILL)
    return save(self, step, *rest)
Checkpoints.save = die
cli.main()
"""


@pytest.mark.long
def test_a_study_that_was_killed_and_resumed_side_by_side_has_every_step_once(tmp_path: Path, haste: None):
    words = ["run", study_file(tmp_path), "--scale", "tiny", "--out", tmp_path / "out", "--arm", "plain"]
    words = [*map(str, words), "--seeds", "2", "--track", "tensorboard"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ended = subprocess.run(
        [sys.executable, "-c", KILL, *words], env=environment, capture_output=True, text=True, check=False
    )
    assert ended.returncode == -9, ended.stderr
    before = scalars(tmp_path / "out/tracking/tensorboard/plain/seed-0")["spent/seconds"]
    assert [step for step, _ in before] == [1, 3, 6]
    outcome = onechange(*words, "--resume", "--jobs", 2)
    assert outcome.status == 0, outcome.err
    for seed in (0, 1):
        agrees_with_the_files(tmp_path / "out", "plain", seed)
