"""One run over several processes is the same run: same windows, same losses, saved whole, ended together."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from torch.distributed import HashStore  # type: ignore[reportPrivateImportUsage]  # torch documents this name, and marks it as private

import onechange
from killed_runs import recipe
from onechange import engine
from onechange.processes import Group
from test_resume import files, pointers

LONG_ENOUGH = {"steps": 50, "evaluate_every": 25, "schedule": {**recipe().schedule, "warmup": 10}}
NEAR = 1e-5


class Spread:
    """The other end of `spread_runs`."""

    def __init__(self) -> None:
        source = str(Path(onechange.__file__).parents[1])
        self.process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("spread_runs.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": source, "TORCHINDUCTOR_COMPILE_THREADS": "1"},
        )

    def run(self, run: Path, processes: int, changed: dict[str, Any], **other: Any) -> list[Any]:
        """What each process saw, ``None`` of one that was killed."""
        assert self.process.stdin is not None and self.process.stdout is not None
        request = {"run": str(run), "processes": processes, "recipe": changed, **other}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self) -> None:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.close()
        self.process.stdout.close()
        assert self.process.wait(20) == 0


@pytest.fixture(scope="module")
def spread() -> Iterator[Spread]:
    found = Spread()
    yield found
    found.close()


def windows(seen: list[Any]) -> list[list[list[int]]]:
    """The rows of every step, of all forward passes and processes in order."""
    steps = range(len(seen[0]["windows"]))
    return [[row for one in seen for batch in one["windows"][step] for row in batch] for step in steps]


def finished(seen: list[Any]) -> list[Any]:
    assert [one["how"] for one in seen] == ["finished"] * len(seen)
    return seen


def history(run: Path) -> list[dict[str, float]]:
    return [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]


def near(found: Path, expected: Path) -> None:
    """Every figure of every evaluation agrees."""
    assert len(history(found)) == len(history(expected)) > 2
    for mine, theirs in zip(history(found), history(expected), strict=True):
        assert mine == pytest.approx(theirs, abs=NEAR)


@pytest.fixture(scope="module")
def alone(spread: Spread, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Any]]:
    """The run in one process, in one forward pass a step."""
    run = tmp_path_factory.mktemp("alone")
    return run, finished(spread.run(run, 1, LONG_ENOUGH))


LONG = pytest.mark.long
SHARES = [
    pytest.param(1, 2, marks=LONG),
    (1, 1),
    pytest.param(2, 0, marks=LONG),
    (2, 1),
    pytest.param(4, 0, marks=LONG),
]
"""Processes, and rows of a forward pass: a batch of 4 is then 1 to 4 forward passes on one process."""


@pytest.mark.parametrize(("processes", "micro_batch"), SHARES)
def test_losses_and_windows_are_those_of_one_process(
    spread: Spread, alone: tuple[Path, list[Any]], tmp_path: Path, processes: int, micro_batch: int
):
    seen = finished(spread.run(tmp_path, processes, {**LONG_ENOUGH, "micro_batch": micro_batch}))
    rows = 4 // processes
    passes = rows // (micro_batch or rows)
    assert {len(step) for one in seen for step in one["windows"]} == {passes}
    assert windows(seen) == windows(alone[1])
    for one in seen:
        assert one["losses"] == seen[0]["losses"], "all are told the same"
    np.testing.assert_allclose(seen[0]["losses"], alone[1][0]["losses"], atol=NEAR, rtol=0)
    assert seen[0]["losses"][0] - seen[0]["losses"][-1] > 0.5, (
        "something must be learned for this to be a test"
    )
    near(tmp_path, alone[0])


@pytest.mark.parametrize(
    ("processes", "micro_batch"), [(1, 3), (2, 2), pytest.param(3, 0, marks=LONG), (4, 1)]
)
def test_a_batch_that_cannot_be_halved_counts_every_row_once(
    spread: Spread, tmp_path: Path, processes: int, micro_batch: int
):
    changed = {**LONG_ENOUGH, "batch": 7, "micro_batch": micro_batch}
    whole = finished(spread.run(tmp_path / "whole", 1, {**changed, "micro_batch": 0}))
    seen = finished(spread.run(tmp_path / "run", processes, changed))
    assert windows(seen) == windows(whole)
    assert all(len(batch) <= (micro_batch or 7) for one in seen for step in one["windows"] for batch in step)
    np.testing.assert_allclose(seen[0]["losses"], whole[0]["losses"], atol=NEAR, rtol=0)


def test_every_process_and_part_drops_out_by_a_stream_of_its_own(monkeypatch: pytest.MonkeyPatch):
    names: list[str] = []
    monkeypatch.setattr(
        engine, "integer", lambda seed, purpose, name: names.append(f"{purpose}: {name}") or 1
    )
    second = engine.Engine(recipe(dropout=0.3, batch=6, micro_batch=2), 20, Group(1, 2, store=HashStore()))
    tokens = torch.zeros(6, 16, dtype=torch.int64)
    second._gradients(7, tokens, tokens)
    assert names == [f"dropout: step-7/rank-1/micro-{micro}" for micro in (0, 1)]


@pytest.mark.parametrize("processes", [1, 4])
def test_a_run_saved_on_two_processes_goes_on_with_another_number(
    spread: Spread, alone: tuple[Path, list[Any]], tmp_path: Path, processes: int
):
    stop = {"rank": 1, "step": 20, "how": "asked"}
    seen = spread.run(tmp_path, 2, LONG_ENOUGH, end=stop)
    assert [one["how"] for one in seen] == ["stopped; step 20 of 50 is saved", "finished"], (
        "the second one was asked, both stopped"
    )
    assert [len(one["losses"]) for one in seen] == [20, 20]
    assert pointers(tmp_path)["last"] == 20
    rest = finished(spread.run(tmp_path, processes, LONG_ENOUGH))
    np.testing.assert_allclose(
        seen[0]["losses"] + rest[0]["losses"], alone[1][0]["losses"], atol=NEAR, rtol=0
    )
    assert windows(seen) + windows(rest) == windows(alone[1])
    near(tmp_path, alone[0])


@pytest.mark.parametrize("processes", [pytest.param(2, marks=LONG), 3, pytest.param(4, marks=LONG)])
def test_a_run_resumed_on_as_many_processes_ends_bit_for_bit_the_same(
    spread: Spread, tmp_path: Path, processes: int
):
    changed = {"width": 64, "dropout": 0.1}
    finished(spread.run(tmp_path / "whole", processes, changed))
    stop = {"rank": 0, "step": 6, "how": "asked"}
    assert spread.run(tmp_path / "run", processes, changed, end=stop)[0]["how"].startswith("stopped; step")
    finished(spread.run(tmp_path / "run", processes, changed))
    assert files(tmp_path / "run") == files(tmp_path / "whole")


LOST = [
    pytest.param({"rank": 1, "step": 6, "how": "killed"}, id="another is killed"),
    pytest.param({"rank": 0, "step": 6, "how": "killed"}, id="the first is killed", marks=LONG),
    pytest.param({"rank": 1, "step": 6, "how": "still"}, id="another stands still", marks=LONG),
    pytest.param({"rank": 0, "step": 6, "how": "still"}, id="the first stands still"),
]


@pytest.mark.parametrize("end", LOST)
def test_a_lost_process_ends_all_and_the_run_goes_on_from_its_last_checkpoint(
    spread: Spread, tmp_path: Path, end: dict[str, Any]
):
    changed = {"steps": 12}
    finished(spread.run(tmp_path / "whole", 2, changed))
    seen = spread.run(tmp_path / "run", 2, changed, end=end, patience=2)
    assert seen[end["rank"]] is None
    assert seen[1 - end["rank"]]["how"].startswith("lost: "), seen[1 - end["rank"]]["how"]
    assert len(seen[1 - end["rank"]]["losses"]) == 5
    assert pointers(tmp_path / "run")["last"] == 4
    finished(spread.run(tmp_path / "run", 2, changed))
    assert files(tmp_path / "run") == files(tmp_path / "whole")


def test_a_loss_that_is_no_number_ends_all_at_the_same_step(spread: Spread, tmp_path: Path):
    absurd = {"optimizer": {**recipe().optimizer, "learning_rate": 1e38}}
    first, second = spread.run(tmp_path, 2, absurd)
    assert first["how"].startswith("the training loss at step 1 is ")
    assert second["how"] == "finished", "the first one says it; the second waits for what comes next"


def test_what_is_saved_is_whole(spread: Spread, tmp_path: Path):
    finished(spread.run(tmp_path / "one", 1, {}))
    finished(spread.run(tmp_path / "two", 2, {}))
    assert files(tmp_path / "one").keys() == files(tmp_path / "two").keys()
    for path in sorted((tmp_path / "one").rglob("*.safetensors")):
        one, two = load_file(path), load_file(tmp_path / "two" / path.relative_to(tmp_path / "one"))
        assert {name: value.shape for name, value in one.items()} == {
            name: value.shape for name, value in two.items()
        }
