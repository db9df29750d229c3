"""Law 7: a run killed at any instant resumes and ends bit for bit as if it had not been."""

import json
import math
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

import onechange
from killed_runs import recipe, train
from onechange.engine import Engine
from onechange.finiteness import NotFinite
from onechange.training import Moment

ONLY_AT_EVALUATIONS, AT_EVERY_STEP = 1e9, 0.0
UNSTEADY = {
    "seed": 5,
    "optimizer": {**recipe().optimizer, "learning_rate": 0.1},
    "schedule": {**recipe().schedule, "final": 1.0},
}
"""The best checkpoint is then that of step 1, of step 4, of step 8, and not the last one."""


class Processes:
    """The other end of `killed_runs`."""

    def __init__(self) -> None:
        source = str(Path(onechange.__file__).parents[1])
        self.process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("killed_runs.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": source, "TORCHINDUCTOR_COMPILE_THREADS": "1"},
        )

    def run(
        self, run: Path, changed: dict[str, Any], seconds: float, kill_at: int | None = None
    ) -> list[str]:
        """The instants that the run passed, if it was not killed."""
        assert self.process.stdin is not None and self.process.stdout is not None
        request = {"run": str(run), "recipe": changed, "seconds": seconds, "kill_at": kill_at}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        assert answer["status"] == (0 if kill_at is None else -9), (
            "it must be killed exactly if it is told to"
        )
        return answer["instants"]

    def close(self) -> None:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.close()
        self.process.stdout.close()
        assert self.process.wait(20) == 0


@pytest.fixture(scope="module")
def processes() -> Iterator[Processes]:
    found = Processes()
    yield found
    found.close()


def files(run: Path) -> dict[str, bytes]:
    """Everything but times."""
    return {
        str(path.relative_to(run)): path.read_bytes()
        for path in sorted(run.rglob("*"))
        if path.is_file() and path.name != "timing.jsonl"
    }


def pointers(run: Path) -> dict[str, int]:
    return {
        which: json.loads((run / "checkpoints" / f"{which}.json").read_text())["step"]
        for which in ("best", "last")
    }


def resumes_everywhere(
    processes: Processes, folder: Path, changed: dict[str, Any], seconds: float, stride: int
) -> None:
    instants = processes.run(folder / "whole", changed, seconds)
    whole = files(folder / "whole")
    assert len(instants) > 100 and "metrics.jsonl" in whole and len(whole) in (6, 9)
    at_the_very_end = range(len(instants) - 3, len(instants))  # nothing is left to train, only to tidy
    for kill_at in sorted({*range(0, len(instants), stride), *at_the_very_end}):
        run = folder / f"killed-{kill_at}"
        processes.run(run, changed, seconds, kill_at)
        processes.run(run, changed, seconds)
        found = files(run)
        assert found.keys() == whole.keys(), f"killed {instants[kill_at]}, instant {kill_at}"
        for name, content in found.items():
            assert content == whole[name], f"{name}, killed {instants[kill_at]}, instant {kill_at}"


@pytest.mark.parametrize("changed", [{"dropout": 0.1}, UNSTEADY], ids=["dropout", "unsteady"])
@pytest.mark.parametrize(("seconds", "stride"), [(ONLY_AT_EVALUATIONS, 13), (AT_EVERY_STEP, 31)])
def test_a_run_killed_now_and_then_ends_the_same(
    processes: Processes, tmp_path: Path, changed: dict[str, Any], seconds: float, stride: int
):
    resumes_everywhere(processes, tmp_path, changed, seconds, stride)


@pytest.mark.long
@pytest.mark.parametrize("changed", [{}, {"dropout": 0.1}, UNSTEADY], ids=["plain", "dropout", "unsteady"])
@pytest.mark.parametrize("seconds", [ONLY_AT_EVALUATIONS, AT_EVERY_STEP])
def test_a_run_killed_at_any_instant_ends_the_same(
    processes: Processes, tmp_path: Path, changed: dict[str, Any], seconds: float
):
    resumes_everywhere(processes, tmp_path, changed, seconds, stride=1)


def test_a_run_killed_again_and_again_ends_the_same(processes: Processes, tmp_path: Path):
    instants = processes.run(tmp_path / "whole", UNSTEADY, AT_EVERY_STEP)
    before_best_moves = instants.index("before update", 100)
    for kill_at in (before_best_moves, 40, 3, 20, 77, 5, 30):
        processes.run(tmp_path / "killed", UNSTEADY, AT_EVERY_STEP, kill_at)
    processes.run(tmp_path / "killed", UNSTEADY, AT_EVERY_STEP)
    assert files(tmp_path / "killed") == files(tmp_path / "whole")
    assert pointers(tmp_path / "killed") == {"best": 8, "last": 12}, "they must differ for this to be a test"


def test_a_checkpoint_between_evaluations_changes_nothing(processes: Processes, tmp_path: Path):
    processes.run(tmp_path / "few", {}, ONLY_AT_EVALUATIONS)
    processes.run(tmp_path / "many", {}, AT_EVERY_STEP)
    assert files(tmp_path / "few") == files(tmp_path / "many")


def compiled_resumes(
    processes: Processes, folder: Path, changed: dict[str, Any], kills: list[tuple[str, int]]
):
    instants = processes.run(folder / "whole", changed, ONLY_AT_EVALUATIONS)
    for number, (name, occurrence) in enumerate(kills):
        kill_at = [place for place, found in enumerate(instants) if found == name][occurrence]
        processes.run(folder / str(number), changed, ONLY_AT_EVALUATIONS, kill_at)
        processes.run(folder / str(number), changed, ONLY_AT_EVALUATIONS)
        assert files(folder / str(number)) == files(folder / "whole"), (
            f"killed {name}, occurrence {occurrence}"
        )


def test_a_compiled_run_killed_before_an_evaluation_ends_the_same(processes: Processes, tmp_path: Path):
    changed = {"compile": True, "precision": "bf16", "dropout": 0.1}
    compiled_resumes(processes, tmp_path, changed, [("before loss", 4)])


@pytest.mark.long
@pytest.mark.parametrize("precision", ["bf16", "float32"])
@pytest.mark.parametrize("dropout", [0.0, 0.1])
def test_a_compiled_run_killed_anywhere_ends_the_same(
    processes: Processes, tmp_path: Path, precision: str, dropout: float
):
    kills = [
        ("before loss", 2),
        ("after loss", 5),
        ("after update", 6),
        ("amid save_file", 3),
        ("before replace", 9),
    ]
    changed = {"compile": True, "precision": precision, "dropout": dropout}
    compiled_resumes(processes, tmp_path, changed, kills)


def test_a_finished_run_is_left_as_it_is(tmp_path: Path):
    train(tmp_path, recipe())
    before = files(tmp_path)
    moments: list[Moment] = []
    train(tmp_path, recipe(), watch=moments.append)
    assert (files(tmp_path), moments) == (before, [])


def test_what_is_watched(tmp_path: Path):
    moments: list[Moment] = []
    train(tmp_path / "run", recipe(), watch=moments.append)
    assert [moment.step for moment in moments] == list(range(1, 13))
    evaluated = {m.step: m.validation_nats_per_character for m in moments if m.validation_nats_per_character}
    rows = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    assert evaluated == {row["step"]: row["validation_nats_per_character"] for row in rows}
    assert [row["step"] for row in rows] == [1, 4, 8, 12]
    assert [row["tokens"] for row in rows] == [64, 256, 512, 768]
    assert [row["characters"] for row in rows] == [64, 256, 512, 768], "one character a token"
    assert rows[0]["validation_loss"] > rows[-1]["validation_loss"]
    assert all(row["validation_loss"] == row["validation_nats_per_character"] for row in rows)


def poisoned(monkeypatch: pytest.MonkeyPatch, step_of_poison: int) -> None:
    update = Engine.update

    def poison(engine: Engine, step: int, *given: Any) -> float:
        loss = update(engine, step, *given)
        if step == step_of_poison:
            with torch.no_grad():
                next(engine.model.parameters())[0, 0] = math.nan
        return loss

    monkeypatch.setattr(Engine, "update", poison)


@pytest.mark.parametrize("seconds", [ONLY_AT_EVALUATIONS, AT_EVERY_STEP])
@pytest.mark.parametrize(
    ("step", "message", "last"),
    [(6, "the training loss at step 7 is nan", 4), (8, "the training loss at step 8 is nan", 4)],
    ids=["between evaluations", "at an evaluation"],
)
def test_a_loss_that_is_no_number_stops_the_run_and_leaves_the_last_good_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: float, step: int, message: str, last: int
):
    train(tmp_path / "whole", recipe())
    with monkeypatch.context() as patch:
        poisoned(patch, step)
        first = "; the first weight that is not finite is embedding"
        with pytest.raises(NotFinite, match=f"^{message}{first}$"):
            train(tmp_path / "run", recipe(), seconds_between_checkpoints=seconds)
    assert pointers(tmp_path / "run")["last"] == (last if seconds else step - 1)
    for path in (tmp_path / "run").rglob("*.safetensors"):
        assert all(value.isfinite().all() for value in load_file(path).values()), path
    train(tmp_path / "run", recipe())
    assert files(tmp_path / "run") == files(tmp_path / "whole")
