"""What open pages are told: where every run stands, how far the whole study is, and when it ends."""

import asyncio
import fcntl
import json
import shutil
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from onechange import run_lock
from onechange.study_folder import StudyFolder
from onechange.ui import live
from onechange.ui.limits import Limits
from onechange.ui.live import Live, Watch
from onechange.ui.reading import where_it_stands
from onechange.ui.whole import whole
from small_servers import events


def run(arm: str, state: str, step: int = 0, **other: Any) -> dict[str, Any]:
    seconds = {"seconds": 2.0 * step, "seconds_left": None, "heard": None}
    return {"arm": arm, "state": state, "step": step, "steps": 100, **seconds, **other}


def test_a_whole_study_out_of_its_runs():
    runs = [
        run("a", "finished", 100, heard="2026-01-01T00:00:00+00:00"),
        run("b", "running", 40, seconds_left=180.0, heard="2026-01-01T00:05:00+00:00"),
        run("a", "not started"),
        run("c", "not started"),
    ]
    found = whole(runs, held=True)
    assert (found.state, found.finished, found.of) == ("running", 1, 4)
    assert found.share == (100 + 40) / 400
    # 60 steps of b at 3 s, then a at its own 2 s a step, then c at the mean of both speeds: one after the other.
    assert found.seconds_left == 60 * 3.0 + 100 * 2.0 + 100 * 2.5
    assert found.heard == "2026-01-01T00:05:00+00:00"


def test_runs_side_by_side_are_done_sooner():
    runs = [run("a", "running", 50, seconds_left=100.0), run("a", "running", 50, seconds_left=100.0)]
    assert whole([*runs, run("a", "not started"), run("a", "not started")], held=True).seconds_left == 300.0


@pytest.mark.parametrize(
    ("states", "held", "state"),
    [
        (["finished", "finished"], False, "finished"),
        (["finished", "finished"], True, "running"),
        (["finished", "not started"], True, "running"),
        (["finished", "not started"], False, "stopped"),
        (["stopped", "finished"], False, "stopped"),
        (["failed", "stopped"], False, "failed"),
        (["failed", "running"], False, "running"),
        ([], True, "running"),
        ([], False, "stopped"),
    ],
)
def test_what_a_study_does(states: list[str], held: bool, state: str):
    assert whole([run("a", one) for one in states], held).state == state


def test_nothing_is_said_of_the_time_before_a_speed_is_known():
    assert whole([run("a", "running"), run("b", "not started")], held=True).seconds_left is None
    assert whole([run("a", "stopped", 50)], held=False).seconds_left is None
    assert whole([run("a", "finished", 100, steps=100)], held=False).share == 1.0


def test_a_lock_makes_a_run_running_and_its_end_stopped(tmp_path: Path, finished: Path):
    study = shutil.copytree(finished, tmp_path / "study")
    path = study / "arms/merged/seed-0"
    (path / "measures.json").unlink()
    for name in ("metrics.jsonl", "timing.jsonl"):
        rows = (path / name).read_text().splitlines(keepends=True)
        (path / name).write_text("".join(row for row in rows if json.loads(row)["step"] < 6))
    (path / "progress.json").write_text(json.dumps({"step": 5, "seconds": 5.0, "seconds_left": 1.0}))
    with ExitStack() as locks:
        locks.enter_context(run_lock.locked(study))
        locks.enter_context(run_lock.locked(path))
        found = where_it_stands(study)
        assert (found["state"], found["seconds_left"]) == ("running", 1.0)
        assert [run["state"] for run in found["runs"]] == ["finished", "running", "finished"]
    found = where_it_stands(study)
    assert (found["state"], found["seconds_left"]) == ("stopped", None)
    assert [run["state"] for run in found["runs"]] == ["finished", "stopped", "finished"]
    assert [run["mark"] for run in found["runs"]] == [0, 1, 2]
    assert [run["symbol"] for run in found["runs"]] == ["●", "■", "▲"]
    assert found["question"] == "What do merges and rotation buy [here]?"


def test_who_only_looks_keeps_nobody_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / ".lock").touch()
    with (tmp_path / ".lock").open() as look:  # as `run_lock.is_locked` does, in the very instant of a start
        fcntl.flock(look, fcntl.LOCK_SH)
        monkeypatch.setattr(
            "onechange.study_folder.time.sleep", lambda seconds: fcntl.flock(look, fcntl.LOCK_UN)
        )
        with StudyFolder(tmp_path).locked():
            assert run_lock.is_locked(tmp_path)


def test_a_study_that_cannot_be_read_is_told_in_one_line(tmp_path: Path, finished: Path):
    study = shutil.copytree(finished, tmp_path / "study")
    (study / "study.toml").write_text("{")
    found = where_it_stands(study)
    assert [*found] == ["error"] and found["error"].startswith("study.toml: not TOML")
    assert [*where_it_stands(tmp_path / "none")] == ["error"]


class NoPages:
    """Pages that are made at once."""

    made = "1"

    async def follow(self, path: Path, name: str, *, spare: bool) -> None:
        return None

    def version(self, path: Path) -> str:
        return self.made


class AtOnce:
    """A reader without a thread."""

    async def read(self, key: Any, what: Any) -> tuple[Any, float]:
        return what(), 0.0


async def _all(stream: Any) -> list[tuple[str, Any]]:
    return events(b"".join([part async for part in stream]))


def followed(study: Path, limits: Limits | None = None) -> list[tuple[str, Any]]:
    """All events of a study until its stream ends."""
    pages: Any = NoPages()
    reader: Any = AtOnce()
    return asyncio.run(_all(Live(pages, reader, limits or Limits()).study(study, "study")))


def test_the_events_of_a_finished_study_end(finished: Path):
    found = followed(finished)
    assert [kind for kind, _ in found] == ["standing", "page", "end"]
    assert found[0][1]["state"] == "finished" and found[1][1] == {"version": "1"}


def test_those_of_another_end_with_their_time(
    tmp_path: Path, finished: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(live, "SECONDS", 0.05)
    monkeypatch.setattr(live, "SIGN_OF_LIFE", 0.05)
    study = shutil.copytree(finished, tmp_path / "study")
    (study / "arms/merged/seed-0/measures.json").unlink()
    found = followed(study, Limits(stream_seconds=0.5))
    assert [kind for kind, _ in found] == ["standing", "page"], "what stays is told once"


def test_all_who_watch_share_one_look_and_the_last_one_ends_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(live, "SECONDS", 0.01)
    looks = 0

    async def look(watch: Watch) -> float:
        nonlocal looks
        looks += 1
        watch.tell("page", {"version": looks // 3})
        return 0.0

    async def one(site: Live) -> list[bytes]:
        found = []
        async for part in site.index(look):
            found.append(part)
            if b'"version": 2' in part:
                break
        return found

    async def work() -> None:
        pages: Any = NoPages()
        reader: Any = AtOnce()
        site = Live(pages, reader, Limits())
        found = await asyncio.gather(*(one(site) for _ in range(100)))
        assert all(len(parts) == 4 for parts in found), "retry, and the versions 0, 1 and 2"
        assert looks < 12
        await asyncio.sleep(0.05)
        before = looks
        await asyncio.sleep(0.05)
        assert looks == before, "nobody looks any more"

    asyncio.run(work())


def test_a_look_that_fails_ends_the_stream_and_says_why(monkeypatch: pytest.MonkeyPatch):
    async def look(watch: Watch) -> float:
        raise RuntimeError("a mistake of ours")

    async def work() -> None:
        pages: Any = NoPages()
        reader: Any = AtOnce()
        with pytest.raises(RuntimeError, match="a mistake of ours"):
            await _all(Live(pages, reader, Limits()).index(look))

    asyncio.run(work())
