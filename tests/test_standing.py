"""`onechange status`: where every run of a study stands, while it runs and after whatever ended it."""

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from onechange import heartbeat, run_lock
from onechange.training import Moment
from small_studies import STUDY, Nursery, files, in_haste, onechange, study_file
from test_laboratory import BOUNCING, arguments, run, tale, text_file

QUIET = """
import os, onechange.laboratory
onechange.laboratory.report.write = lambda folder: None
os.fsync = lambda file: None
"""
LOOK = (
    QUIET
    + """
import json, signal
from pathlib import Path
from onechange import heartbeat, orders, standing
from onechange.study_folder import StudyFolder
heartbeat.SECONDS = 0.0
original, runs = orders.execute, []
def looked(recipe, data, sampling, prompts, run, watch, *rest, **named):
    runs.append(run)
    def watching(moment):
        watch(moment)
        if len(runs) == 2 and moment.step == 5:
            Path({told!r}).write_text(json.dumps(standing.collect(StudyFolder(Path({out!r})))))
            os.kill(os.getpid(), signal.SIGKILL)
    return original(recipe, data, sampling, prompts, run, watching, *rest, **named)
orders.execute = looked
"""
)
"""Looks from within the second run, after its step 5 and before that is noted; then dies."""


@pytest.fixture(scope="module", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with in_haste(tmp_path_factory.mktemp("cache"), 120):
        yield


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Thirty stories, three of them to validate on."""
    return text_file(tmp_path_factory.mktemp("text") / "tales.txt", [tale(number) for number in range(30)])


def standing(out: Path) -> dict[str, dict[str, Any]]:
    outcome = onechange("status", out, "--json")
    assert outcome.status == 0, outcome
    assert all(run["seed"] == 0 for run in outcome.document["runs"])
    return {run["arm"]: run for run in outcome.document["runs"]}


def test_a_running_a_killed_and_a_finished_study(tmp_path: Path, text: Path):
    (tmp_path / "nursery").mkdir()
    nursery = Nursery(tmp_path / "nursery")
    out = tmp_path / "out"
    program = LOOK.format(told=str(tmp_path / "told"), out=str(out))
    killed = nursery.onechange(arguments(tmp_path, text), program)
    nursery.close()
    assert killed.status == -signal.SIGKILL, killed

    told = {run["arm"]: run for run in json.loads((tmp_path / "told").read_text())["runs"]}
    assert [told[arm]["state"] for arm in ("plain", "merged", "turned")] == [
        "finished",
        "running",
        "not started",
    ]
    assert [told[arm]["step"] for arm in ("plain", "merged", "turned")] == [6, 4, 0]
    assert [run["steps"] for run in told.values()] == [6, 6, 6]
    rows = [json.loads(line) for line in (out / "arms/merged/seed-0/metrics.jsonl").read_text().splitlines()]
    assert told["merged"]["validation_nats_per_character"] == rows[-1]["validation_nats_per_character"]
    assert told["merged"]["seconds_left"] > 0
    assert told["merged"]["seconds"] > 0
    assert told["turned"]["validation_nats_per_character"] is told["turned"]["heard"] is None

    after = standing(out)
    assert (out / "arms/merged/seed-0/progress.json").is_file(), "which the kill left behind"
    assert (after["merged"]["state"], after["merged"]["step"]) == ("stopped", 3), "where a resume begins"
    assert after["merged"]["seconds_left"] is None
    shown = onechange("status", out)
    assert [line.split()[:4] for line in shown.out.splitlines()[1:3]] == [
        ["plain", "0", "finished", "6/6"],
        ["merged", "0", "stopped", "3/6"],
    ]

    before = files(out, ())
    standing(out)
    assert files(out, ()) == before, "who only looks changes nothing"
    assert run(tmp_path, text, "--resume").status == 0
    assert {run["state"] for run in standing(out).values()} == {"finished"}
    assert list(out.rglob("progress.json")) == []


def test_a_lock_decides_what_runs_not_a_file(tmp_path: Path, text: Path):
    assert run(tmp_path, text, "--arm", "plain").status == 0
    path = tmp_path / "out/arms/plain/seed-0"
    (path / "measures.json").unlink()
    (path / "progress.json").write_text('{"step": 5, "seconds": 1.0, "seconds_left": 1.0}')
    assert standing(tmp_path / "out")["plain"]["state"] == "stopped"
    with run_lock.locked(path):
        assert standing(tmp_path / "out")["plain"]["state"] == "running"
    assert standing(tmp_path / "out")["plain"]["state"] == "stopped"


def test_a_failed_run_says_why(tmp_path: Path, text: Path):
    content = STUDY.replace("evaluate_every = 3", "evaluate_every = 3\noptimizer = { learning_rate = 1e30 }")
    assert run(tmp_path, text, "--arm", "plain", content=content).status == 1
    found = standing(tmp_path / "out")["plain"]
    assert found["state"] == "failed"
    assert "at step 1 is" in found["error"]
    assert f"plain, seed 0: {found['error']}" in onechange("status", tmp_path / "out").out


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b"\xff\xfe", b'{"step": "x"}\n', b"[" * 100_000])
def test_damaged_files_are_passed_over(tmp_path: Path, text: Path, damage: bytes):
    assert run(tmp_path, text, "--arm", "plain").status == 0
    for name in ("timing.jsonl", "metrics.jsonl", "progress.json"):
        (tmp_path / "out/arms/plain/seed-0" / name).write_bytes(damage)
    assert standing(tmp_path / "out")["plain"]["state"] == "finished"
    assert onechange("status", tmp_path / "out").status == 0


@pytest.mark.parametrize("place", ["missing", "empty", "half-made"])
def test_where_no_study_lies_is_one_line(tmp_path: Path, place: str):
    folder = tmp_path / place
    if place != "missing":
        folder.mkdir()
    if place == "half-made":
        study_file(folder, BOUNCING, "study.toml")
    outcome = onechange("status", folder)
    assert outcome.status == 2
    assert outcome.err == f"onechange: {folder} holds no study: no start.json in it\n"


def moment(step: int) -> Moment:
    return Moment(step, 10, 1.0, 1.0, 2.0 * (10 - step))


def test_the_file_is_replaced_now_and_then_and_gone_at_the_end(tmp_path: Path):
    now, seen = 100.0, []
    path = tmp_path / "progress.json"
    with heartbeat.beating(tmp_path, lambda moment: seen.append(moment.step), clock=lambda: now) as beat:
        for step, at, noted in [
            (1, 101, 1),
            (2, 102, 1),
            (3, 105.9, 1),
            (4, 106, 4),
            (5, 107, 4),
            (10, 108, 10),
        ]:
            now = at
            beat(moment(step))
            content = json.loads(path.read_text())
            assert content["step"] == noted
        assert content == {"step": 10, "seconds": 8.0, "seconds_left": 0.0}
    assert seen == [1, 2, 3, 4, 5, 10]
    assert list(tmp_path.iterdir()) == []


def test_a_disk_without_room_for_it_stops_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def full(*given: Any, **named: Any) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with heartbeat.beating(tmp_path, lambda moment: None) as beat:
        beat(moment(1))
    assert list(tmp_path.iterdir()) == []
