"""Models in memory: read once, let go in their turn, and none that brings code which nobody trusted."""

import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import small_playground
from onechange import checkpoint_reader
from onechange.checkpoint import Checkpoints
from onechange.ui.playground.limits import Limits
from onechange.ui.playground.models import Models
from own_members import MARK, as_in_a_new_process, marking, run, written
from small_playground import PLACE, wait_until


def run_of(study: Path, arm: str) -> Path:
    return study / "arms" / arm / "seed-0"


def test_the_least_recently_used_model_is_let_go(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[str] = []
    read = checkpoint_reader.read
    monkeypatch.setattr(
        checkpoint_reader,
        "read",
        lambda run, step: (reads.append(run.parent.name), read(run, step))[1],
    )
    held = Models(Limits(held=2))
    for arm in ("plain", "merged", "plain", "turned", "plain", "merged"):
        held.get(run_of(study, arm), "best")
        assert len(held) <= 2
    assert reads == ["plain", "merged", "turned", "merged"]


def test_models_together_have_no_more_parameters_than_may_be(study: Path) -> None:
    size = Models(Limits()).get(run_of(study, "plain"), "best").parameters
    held = Models(Limits(numbers=size + 10))
    for arm in ("plain", "merged", "turned"):
        assert held.get(run_of(study, arm), "best").parameters > 10
        assert len(held) == 1
    with pytest.raises(LookupError, match="has not begun"):
        held.get(study / "arms/plain/seed-9", "best")


def test_those_who_come_while_a_model_is_read_wait_for_it(
    study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go, reads, read = threading.Event(), [], checkpoint_reader.read

    def slow(run: Path, step: int) -> Any:
        reads.append(run)
        assert go.wait(30)
        return read(run, step)

    monkeypatch.setattr(checkpoint_reader, "read", slow)
    held = Models(Limits())
    with ThreadPoolExecutor(4) as people:
        asked = [people.submit(held.get, run_of(study, "plain"), "best") for _ in range(4)]
        wait_until(lambda: reads)
        go.set()
        found = [one.result(30) for one in asked]
    assert len(reads) == 1 and all(one is found[0] for one in found)


def test_a_model_that_could_not_be_read_is_tried_again(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(run: Path, step: int) -> Any:
        raise OSError("no room")

    held = Models(Limits())
    with monkeypatch.context() as patch:
        patch.setattr(checkpoint_reader, "read", broken)
        with pytest.raises(OSError, match="no room"):
            held.get(run_of(study, "plain"), "best")
    assert held.get(run_of(study, "plain"), "best").trained.step > 0


def test_a_run_that_trained_on_is_read_anew(study: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(study, tmp_path / "out"))
    held = Models(Limits())
    first = held.get(run_of(copy, "plain"), "last")
    steps = sorted(int(path.name[5:]) for path in (run_of(copy, "plain") / "checkpoints").glob("step-*"))
    assert first.trained.step == steps[-1]
    assert held.get(run_of(copy, "plain"), "last") is first
    checkpoints = Checkpoints(run_of(copy, "plain"))
    checkpoints.point("last", steps[0])
    again = held.get(run_of(copy, "plain"), "last")
    assert again.trained.step == steps[0]
    assert (again is first) == (len(steps) == 1)


# Code that nobody trusted


def test_code_that_a_study_brings_is_not_executed(tmp_path: Path) -> None:
    with marking(tmp_path):
        as_in_a_new_process()
        outcome = run(written(tmp_path), tmp_path / "out")
        assert outcome.status == 0, outcome.err
        as_in_a_new_process()
        (tmp_path / MARK).unlink()
        application = small_playground.application(tmp_path / "out")
        client = TestClient(application)
        assert client.get(PLACE).status_code == 200
        arms = client.get(f"{PLACE}/models").json()["arms"]
        own = next(arm["name"] for arm in arms if arm["name"] == "mine")
        for what, more in (("write", {"prompt": "The "}), ("surprise", {"text": "The "}), ("load", {})):
            answer = client.post(f"{PLACE}/{what}", json={"arm": own, "seed": 0, **more})
            assert answer.status_code == 400
            assert "was made with code of its own" in answer.json()["error"]
        assert not (tmp_path / MARK).exists()
        as_in_a_new_process()
