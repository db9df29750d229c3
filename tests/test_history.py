"""The history on disk: whole rows only, cut where a run goes on from."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onechange.history import History

ROWS = [{"step": step, "loss": loss} for step, loss in [(1, 6.5), (200, 1 / 3), (400, 1e-17), (2000, 2.0)]]


@pytest.fixture
def history(tmp_path: Path) -> History:
    found = History(tmp_path / "metrics.jsonl")
    for row in ROWS:
        found.append(row)
    return found


def test_rows_come_back_one_a_line(history: History):
    assert history.rows() == ROWS
    assert history.path.read_text().count("\n") == len(ROWS)


def test_a_row_is_on_the_disk_before_anything_else_happens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """What is written before the disk is asked to keep it, no crash loses."""
    path = tmp_path / "metrics.jsonl"
    kept: list[str] = []
    monkeypatch.setattr("os.fsync", lambda file: kept.append(path.read_text()))
    history = History(path)
    for row in ROWS[:2]:
        history.append(row)
    first, second = (json.dumps(row) + "\n" for row in ROWS[:2])
    assert kept == [first, first + second]


def test_no_file_is_no_rows(tmp_path: Path):
    assert History(tmp_path / "metrics.jsonl").rows() == []


def test_a_line_that_a_kill_left_unfinished_is_no_row(history: History):
    whole = history.path.read_bytes()
    for length in range(len(whole) + 1):
        history.path.write_bytes(whole[:length])
        assert history.rows() == ROWS[: whole[:length].count(b"\n")]
        history.cut(10**9)
        history.append({"step": 3000})
        assert history.rows() == [*ROWS[: whole[:length].count(b"\n")], {"step": 3000}]


@pytest.mark.parametrize(("step", "kept"), [(0, 0), (1, 1), (199, 1), (200, 2), (2000, 4), (9999, 4)])
def test_it_is_cut_beyond_a_step(history: History, step: int, kept: int):
    lines = history.path.read_text().splitlines(keepends=True)
    history.cut(step)
    assert history.path.read_text() == "".join(lines[:kept]), "what is kept is kept byte for byte"


@given(loss=st.floats(allow_nan=False, allow_infinity=False), text=st.text())
def test_every_number_and_text_survives_a_cut(
    tmp_path_factory: pytest.TempPathFactory, loss: float, text: str
):
    history = History(tmp_path_factory.mktemp("history") / "metrics.jsonl")
    history.append({"step": 1, "loss": loss, "text": text})
    written = history.path.read_bytes()
    history.cut(1)
    assert history.path.read_bytes() == written
    assert history.rows() == [{"step": 1, "loss": loss, "text": text}]
