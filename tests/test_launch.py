"""The command line over several processes: started by itself, by torchrun, on two machines; and what ends it."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

import onechange as package
from onechange import family, launch
from onechange.plan import Plan
from onechange.study_file import parse
from small_studies import STUDY, files, onechange, study_file, without_times
from test_spread import near

SOURCE = str(Path(package.__file__).parents[1])
TORCHRUN = ["-m", "torch.distributed.run"]
ENDLESS = STUDY.replace("steps = 6", "steps = 100000").replace("evaluate_every = 3", "evaluate_every = 50000")


def started(words: Sequence[object], folder: Path, **environment: str) -> "subprocess.Popen[str]":
    """A Python process of its own, its standard output and error in files of ``folder``."""
    folder.mkdir(exist_ok=True)
    with (folder / "stdout").open("w") as out, (folder / "stderr").open("w") as err:
        return subprocess.Popen(
            [sys.executable, *map(str, words)],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": SOURCE, "OMP_NUM_THREADS": "1", "COLUMNS": "100", **environment},
            stdout=out,
            stderr=err,
            text=True,
        )


def children(process: int) -> list[int]:
    """The processes that ``process`` has started and that still run."""
    found = Path(f"/proc/{process}/task/{process}/children")
    return [int(word) for word in found.read_text(encoding="utf-8").split()] if found.is_file() else []


def free_port() -> int:
    """A port of this machine that nothing listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def ended(process: int) -> bool:
    """Whether it is gone, or waits only to be asked how it ended."""
    path = Path(f"/proc/{process}/stat")
    return not path.is_file() or path.read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "Z"


def until(happened: Callable[[], object], seconds: float = 60) -> None:
    """Wait for what another process does; fails if it takes too long."""
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.05)


def test_a_study_over_two_processes_is_the_study(tmp_path: Path):
    file = study_file(tmp_path)
    words = ["run", file, "--scale", "tiny", "--arm", "plain", "--json"]
    spread = started(
        ["-m", "onechange", *words, "--out", tmp_path / "two", "--processes", "2"], tmp_path / "t"
    )
    alone = onechange(*words, "--out", tmp_path / "one").document
    assert spread.wait(120) == 0, (tmp_path / "t/stderr").read_text()
    document = json.loads((tmp_path / "t/stdout").read_text())
    assert files(tmp_path / "two").keys() == files(tmp_path / "one").keys()
    near(tmp_path / "two/arms/plain/seed-0", tmp_path / "one/arms/plain/seed-0")
    for which in ("best", "last"):
        mine, theirs = (one["arms"][0]["runs"][0][which]["nats_per_character"] for one in (document, alone))
        assert mine == pytest.approx(theirs, abs=1e-5)
    assert without_times(document).keys() == without_times(alone).keys()
    ran_on = json.loads((tmp_path / "two/arms/plain/seed-0/environment.json").read_text())
    assert (ran_on["processes"], ran_on["device"]) == (2, "cpu")
    said = (tmp_path / "t/stderr").read_text().splitlines()
    assert said[0] == "2 processes of 1 thread, float32, eager"
    assert all(line.startswith("plain ") for line in said[1:]), (
        "nothing but progress, and of one process only"
    )


@pytest.mark.parametrize("number", ["0", "-1", "5000"])
def test_a_number_of_processes_that_cannot_be(tmp_path: Path, number: str):
    outcome = onechange("run", study_file(tmp_path), "--scale", "tiny", "--processes", number)
    assert outcome.status == 2
    assert outcome.err == f"onechange: --processes {number}: must be from 1 to 1024\n"


def test_more_processes_than_rows(tmp_path: Path):
    outcome = onechange(
        "run", study_file(tmp_path), "--scale", "tiny", "--processes", 5, "--out", tmp_path / "out"
    )
    assert outcome.status == 2
    assert (
        outcome.err
        == "onechange: 5 processes: arm 'plain' has batch = 4, and each process needs a row at least\n"
    )
    assert not (tmp_path / "out").exists()


def test_torchrun_and_the_command_must_agree(monkeypatch: pytest.MonkeyPatch):
    assert launch.asked(3) == 3
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert (launch.asked(None), launch.asked(2)) == (2, 2)
    with pytest.raises(
        ValueError, match=r"^--processes 3: torchrun has started 2; leave one of the two out$"
    ):
        launch.asked(3)
    monkeypatch.setenv("WORLD_SIZE", "two")
    with pytest.raises(ValueError, match=r"^WORLD_SIZE = 'two': must be a whole number$"):
        launch.asked(None)


def test_processes_share_the_threads(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda process: set(range(9)), raising=False)
    monkeypatch.setattr(Plan, "_operations", lambda plan, arm: 0.0)  # no text is needed for this
    study = parse(STUDY.encode())
    corpus = family.resolve("corpus", study.corpus)
    for processes, threads in ((1, 9), (2, 4), (4, 2), (20, 1)):
        plan = Plan(study, "full", corpus, [0], ["plain"], processes=processes)
        assert plan.chosen.threads == threads


@pytest.mark.long
def test_torchrun_on_one_machine_and_on_two(tmp_path: Path):
    file = study_file(tmp_path)
    words = ["-m", "onechange", "run", file, "--scale", "tiny", "--arm", "plain", "--out", "out"]
    one = [*TORCHRUN, "--standalone", "--nproc-per-node", 2, *words]
    assert started(one, tmp_path / "one").wait(120) == 0, (tmp_path / "one/stderr").read_text()
    place = ["--nproc-per-node", 1, "--master-addr", "127.0.0.1", "--master-port", free_port()]
    machines = [
        started([*TORCHRUN, "--nnodes", 2, "--node-rank", n, *place, *words], tmp_path / f"machine-{n}")
        for n in (0, 1)
    ]
    assert [machine.wait(120) for machine in machines] == [0, 0], (tmp_path / "machine-0/stderr").read_text()
    assert not (tmp_path / "machine-1/out").is_dir(), "only the first writes"
    assert (tmp_path / "machine-1/stdout").read_text() == ""
    # torchrun itself may complain there, when the first machine's part of it has ended a moment earlier.
    said = (tmp_path / "machine-1/stderr").read_text().splitlines()
    assert [
        line for line in said if "torch/distributed/elastic/" not in line and not line.startswith("E")
    ] == []


@pytest.mark.long
@pytest.mark.parametrize("how", ["a child is killed", "the first is killed", "a child stands still"])
def test_a_lost_process_ends_the_command_within_seconds(tmp_path: Path, how: str):
    file = study_file(tmp_path, ENDLESS)
    words = [
        "-m",
        "onechange",
        "run",
        file,
        "--scale",
        "tiny",
        "--arm",
        "plain",
        "--out",
        "out",
        "--processes",
        2,
    ]
    first = started(words, tmp_path / "a", ONECHANGE_PATIENCE="5")
    until((tmp_path / "a/out/arms/plain/seed-0/checkpoints/last.json").is_file)
    (child,) = children(first.pid)
    struck = first.pid if how == "the first is killed" else child
    os.kill(struck, signal.SIGSTOP if how == "a child stands still" else signal.SIGKILL)
    assert first.wait(30) == (-9 if struck == first.pid else 1)
    until(lambda: ended(child), 30)
    said = (tmp_path / "a/stderr").read_text().splitlines()
    if struck == child:
        assert said[-1].startswith("onechange: plain, seed 0: ")
        assert said[-1].endswith("the same command with --resume goes on from step 1")
        assert sum("onechange: " in line for line in said) == 1
    assert not any("Traceback" in line or "[rank" in line for line in said)


@pytest.mark.long
def test_a_run_goes_on_when_torchrun_starts_it_anew(tmp_path: Path):
    file = study_file(
        tmp_path,
        STUDY.replace("steps = 6", "steps = 1500").replace("evaluate_every = 3", "evaluate_every = 750"),
    )
    words = ["-m", "onechange", "run", file, "--scale", "tiny", "--arm", "plain", "--out", "out"]
    agent = started(
        [*TORCHRUN, "--standalone", "--nproc-per-node", 2, "--max-restarts", 1, *words], tmp_path / "a"
    )
    until((tmp_path / "a/out/arms/plain/seed-0/checkpoints/last.json").is_file)
    os.kill(children(agent.pid)[-1], signal.SIGKILL)
    assert agent.wait(120) == 0, (tmp_path / "a/stderr").read_text()
    assert (tmp_path / "a/out/arms/plain/seed-0/measures.json").is_file()
