"""Runs on a Ray cluster: the same bytes as at home, whichever worker, node or study dies meanwhile."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from onechange import cluster, hand, jobs, ray_connection, scratch
from onechange.run_lock import is_locked
from onechange.verbs.progress import Progress
from small_studies import STUDY, TIMES, Outcome, files, in_haste, onechange, study_file, without_times

TIMES_AND_START = (*TIMES, "start.json")
WILD = STUDY.replace(
    "[sampling]",
    '[[arm]]\nname = "wild"\nfrom = "plain"\nchange.optimizer = { learning_rate = 1e30 }\n\n[sampling]',
)


@pytest.fixture(scope="module", autouse=True)
def _alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with in_haste(tmp_path_factory.mktemp("cache")):
        yield


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The study with two seeds, without a cluster."""
    folder = tmp_path_factory.mktemp("whole")
    outcome = run(folder, "--jobs", 1)
    assert outcome.status == 0, outcome.err
    return folder / "out"


@pytest.fixture(scope="module")
def two_nodes() -> Iterator[Any]:
    """A cluster of two nodes, each with a processor; what it leaves on the disk is deleted."""
    from ray import cluster_utils

    place = Path(tempfile.mkdtemp(prefix="ray-", dir="/tmp"))  # paths of sockets are short
    (place / "ray").mkdir()
    nodes = None
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_TMPDIR", str(place))
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("RAY_AUTH_TOKEN", "0" * 64)
        patch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
        settings = {"num_cpus": 1, "object_store_memory": ray_connection.OBJECTS, "include_dashboard": False}
        try:
            nodes = cluster_utils.Cluster(initialize_head=True, head_node_args=settings)
            nodes.add_node(**settings)
            yield nodes
        finally:
            if nodes:
                nodes.shutdown()
            shutil.rmtree(place, ignore_errors=True)
            sweep()


def sweep() -> None:
    """Delete what a killed worker or study left, as the next one would."""
    for prefix, parent in ((hand.PREFIX, None), (ray_connection.PREFIX, Path("/tmp"))):
        with scratch.folder(prefix, parent):
            pass


def words(folder: Path, *more: object, content: str = STUDY) -> list[object]:
    file = study_file(folder, content)
    return ["run", file, "--scale", "tiny", "--seeds", 2, "--out", folder / "out", "--json", *more]


def run(folder: Path, *more: object, content: str = STUDY) -> Outcome:
    return onechange(*words(folder, *more, content=content))


def at_step(step: int, then: str, position: str = "rope") -> str:
    """The program of workers that do ``then``, in which FLAG is a file, after a step of runs with such positions."""
    return f"""
import sys; sys.path[:] = sys.argv[1:]
import os, pathlib, signal, time
from onechange import job, orders
execute = orders.execute
def executed(recipe, data, sampling, prompts, path, watch, *more):
    def watching(moment):
        watch(moment)
        if moment.step == {step} and recipe.position["name"] == {position!r}:
            {then}
    execute(recipe, data, sampling, prompts, path, watching, *more)
orders.execute = executed
job.main()
"""


def once(flag: Path, then: str) -> str:
    return f"os.path.exists({str(flag)!r}) or (pathlib.Path({str(flag)!r}).touch(), {then})"


def the_line(outcome: Outcome) -> str:
    (line,) = [line for line in outcome.err.splitlines() if line.startswith("onechange: ")]
    assert "Traceback" not in outcome.err
    return line


# --- without a cluster ----------------------------------------------------------------------------------------------


def test_without_ray_the_flag_says_how_to_install_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    outcome = run(tmp_path, "--cluster", "local")
    assert outcome.status == 2
    assert (
        outcome.err
        == "onechange: --cluster needs Ray, which is not installed: pip install 'onechange[ray]'\n"
    )
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (["--dry-run"], "--dry-run estimates for this machine alone: leave out --cluster local"),
        (["--processes", 2], "--cluster local: not with 2 processes; on a cluster every run has one process"),
    ],
)
def test_what_goes_with_no_cluster_is_refused(tmp_path: Path, more: list[object], told: str) -> None:
    outcome = run(tmp_path, "--cluster", "local", *more)
    assert (outcome.status, outcome.err) == (2, f"onechange: {told}\n")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("nowhere", "must be local, auto, or HOST:PORT of a running Ray cluster"),
        ("host:99999", "must be local, auto, or HOST:PORT of a running Ray cluster"),
        ("ray://127.0.0.1:1", "must be local, auto, or HOST:PORT of a running Ray cluster"),
        ("127.0.0.1:1", "no Ray cluster answers there (Connection refused)"),
    ],
)
def test_an_address_where_no_cluster_is(tmp_path: Path, address: str, told: str) -> None:
    pytest.importorskip("ray")
    outcome = run(tmp_path, "--cluster", address)
    assert outcome.status == 2
    assert told in the_line(outcome)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("machines", "threads", "device", "room"),
    [
        ([(4, 0), (2, 0)], 1, "cpu", 6),
        ([(4, 0), (2, 0)], 2, "cpu", 3),
        ([(3, 0), (3, 0)], 2, "cpu", 2),
        ([(4, 0), (2, 0)], 4, "cpu", 1),
        ([(16, 2), (16, 1)], 1, "cuda", 3),
        ([(4, 0), (2, 0)], 5, "cpu", "a run has 5 threads, and the largest machine of the cluster has 4"),
        ([(4, 0)], 1, "cuda", "the runs need CUDA, the cluster has no GPU"),
    ],
)
def test_how_many_runs_a_cluster_has_room_for(
    machines: list[tuple[float, float]], threads: int, device: Any, room: int | str
) -> None:
    there = [{"CPU": processors, "GPU": gpus, "memory": 1e9} for processors, gpus in machines]
    if isinstance(room, int):
        assert cluster.room("there:1", there, threads, device) == room
    else:
        with pytest.raises(ValueError, match=room):
            cluster.room("there:1", there, threads, device)


def test_a_hand_leaves_nothing_and_sweeps_up_after_one_that_was_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / f"{hand.PREFIX}killed").mkdir()
    one, other = hand.Hand(jobs.PROGRAM, None), hand.Hand(jobs.PROGRAM, None)
    assert sum(path.is_dir() for path in tmp_path.iterdir()) == 2, (
        "one each; what the killed one left is gone"
    )
    one.write("a/b", b"12")
    one.write("a/b", b"345")
    assert set(one.look()) == {"a/b"}
    assert (one.read("a/b", 0), one.read("a/b", 3), one.read("a/b", 5)) == (b"12345", b"45", b"")
    one.close()
    other.close()
    assert list(tmp_path.iterdir()) == []


# --- on two nodes of this machine -----------------------------------------------------------------------------------


@pytest.mark.long
def test_a_cluster_of_two_is_bit_for_bit_the_study_at_home(
    tmp_path: Path, whole: Path, two_nodes: Any
) -> None:
    outcome = run(tmp_path, "--cluster", two_nodes.address)
    assert outcome.status == 0, outcome.err
    assert len(files(whole)) > 60
    assert files(tmp_path / "out", TIMES_AND_START) == files(whole, TIMES_AND_START)
    assert without_times(outcome.document) == without_times(json.loads((whole / "results.json").read_text()))


@pytest.mark.long
@pytest.mark.parametrize("who", ["os.getpid()", "os.getppid()"], ids=["its process", "its worker"])
def test_a_run_whose_worker_is_killed_goes_on_by_itself(
    tmp_path: Path, whole: Path, two_nodes: Any, monkeypatch: pytest.MonkeyPatch, who: str
) -> None:
    # Time for the checkpoint of step 3 to be brought home.
    then = once(tmp_path / "flag", f"time.sleep(2), os.kill({who}, signal.SIGKILL), time.sleep(60)")
    monkeypatch.setattr(jobs, "PROGRAM", at_step(4, then))
    outcome = run(tmp_path, "--cluster", two_nodes.address)
    assert outcome.status == 0, outcome.err
    (note,) = [line for line in outcome.err.splitlines() if "its worker" in line]
    assert note.startswith("turned, seed ")
    assert note.endswith("; it goes on from step 3")
    assert files(tmp_path / "out", TIMES_AND_START) == files(whole, TIMES_AND_START)


@pytest.mark.long
def test_a_run_that_gets_no_further_stops_the_study_which_resumes(
    tmp_path: Path, whole: Path, two_nodes: Any
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jobs, "PROGRAM", at_step(2, "time.sleep(1); os.kill(os.getpid(), signal.SIGKILL)"))
        outcome = run(tmp_path, "--cluster", two_nodes.address)
    assert outcome.status == 2
    line = the_line(outcome)
    assert f"{tmp_path / 'out/arms/turned/seed-'}" in line
    assert "its worker died 3 times at step 1" in line
    assert "SIGKILL" in line
    resumed = run(tmp_path, "--jobs", 1, "--resume")
    assert resumed.status == 0, resumed.err
    assert files(tmp_path / "out", TIMES_AND_START) == files(whole, TIMES_AND_START)


@pytest.mark.long
def test_a_node_that_is_lost(
    tmp_path: Path, whole: Path, two_nodes: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "PROGRAM", at_step(4, "time.sleep(3)"))
    lost = two_nodes.add_node(num_cpus=1, object_store_memory=ray_connection.OBJECTS)
    seen: list[str] = []

    def watching(self: Progress, arm: str, seed: int, moment: Any) -> None:
        if moment.step >= 3 and not seen:
            seen.append(arm)
            threading.Thread(
                target=two_nodes.remove_node, args=(lost,), kwargs={"allow_graceful": False}
            ).start()

    monkeypatch.setattr(Progress, "watch", watching)
    outcome = run(tmp_path, "--cluster", two_nodes.address)
    assert outcome.status == 0, outcome.err
    assert "its worker is gone" in outcome.err
    assert files(tmp_path / "out", TIMES_AND_START) == files(whole, TIMES_AND_START)


@pytest.mark.long
def test_a_study_that_is_told_to_end_brings_home_what_was_saved(
    tmp_path: Path, whole: Path, two_nodes: Any
) -> None:
    program = f"""
import os, signal, sys
from onechange import cli, jobs, laboratory
from onechange.verbs.progress import Progress
jobs.PROGRAM = {at_step(4, "time.sleep(5)", "learned")!r}
laboratory.report.write = lambda folder: None
def watching(self, arm, seed, moment):
    if moment.step >= 3:
        os.kill(os.getpid(), signal.SIGTERM)
Progress.watch = watching
cli.main()
"""
    told = [*map(str, words(tmp_path, "--cluster", two_nodes.address))]
    study = subprocess.run(
        [sys.executable, "-c", program, *told],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        timeout=120,
    )
    assert study.returncode == 128 + signal.SIGTERM, study.stderr
    assert "stopping: " in study.stderr
    assert "--resume" in study.stderr.splitlines()[-1]
    assert "Traceback" not in study.stderr
    runs = [tmp_path / f"out/arms/{arm}/seed-0" for arm in ("plain", "merged")]
    pointers = [path / "checkpoints/last.json" for path in runs]  # the other may not have begun
    steps = [json.loads(path.read_text())["step"] for path in pointers if path.exists()]
    assert max(steps, default=0) >= 4, "the step that it made was saved and came home"
    assert not any(is_locked(path) for path in runs)
    resumed = run(tmp_path, "--cluster", two_nodes.address, "--resume")
    assert resumed.status == 0, resumed.err
    assert files(tmp_path / "out", TIMES_AND_START) == files(whole, TIMES_AND_START)


@pytest.mark.long
def test_a_run_that_fails_stops_no_other(tmp_path: Path, two_nodes: Any) -> None:
    outcome = run(tmp_path, "--cluster", two_nodes.address, "--seeds", 1, content=WILD)
    assert outcome.status == 1, outcome.err
    assert "wild, seed 0: stopped, the " in outcome.err
    states = {arm["name"]: arm["runs"][0]["status"] for arm in outcome.document["arms"]}
    assert states == {"plain": "finished", "merged": "finished", "turned": "finished", "wild": "failed"}
    assert (tmp_path / "out/arms/wild/seed-0/failure.json").exists()


@pytest.mark.long
def test_what_a_person_can_mend_is_one_line_that_names_the_studys_folder(
    tmp_path: Path, two_nodes: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    then = "raise ValueError(f'{path}: cannot go on')"
    monkeypatch.setattr(jobs, "PROGRAM", at_step(2, then))
    outcome = run(tmp_path, "--cluster", two_nodes.address, "--seeds", 1)
    assert outcome.status == 2
    assert the_line(outcome) == f"onechange: {tmp_path / 'out/arms/turned/seed-0'}: cannot go on"


@pytest.mark.long
def test_our_own_mistake_in_a_worker_is_shown_and_not_repeated(
    tmp_path: Path, two_nodes: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "PROGRAM", at_step(2, "assert False, 'impossible'"))
    outcome = run(tmp_path, "--cluster", two_nodes.address, "--seeds", 1)
    assert outcome.status == 2
    assert outcome.err.count("AssertionError: impossible") == 1
    assert outcome.err.splitlines()[-1].endswith("its process ended with status 1; --resume goes on")


@pytest.mark.long
@pytest.mark.parametrize("package", ["onechange", "torch"])
def test_another_program_on_the_workers_is_refused(
    tmp_path: Path, two_nodes: Any, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    here = hand.introduction()
    monkeypatch.setattr(cluster.hand, "introduction", lambda: replace(here, **{package: "0.0.1"}))
    outcome = run(tmp_path, "--cluster", two_nodes.address, "--seeds", 1)
    assert outcome.status == 2
    has = f"{here.machine} has {package} {getattr(here, package)}, this machine 0.0.1"
    assert has in the_line(outcome)


@pytest.mark.long
def test_another_processor_is_remarked_once(
    tmp_path: Path, two_nodes: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = hand.introduction()
    monkeypatch.setattr(cluster.hand, "introduction", lambda: replace(here, processor="Abacus 1"))
    outcome = run(tmp_path, "--cluster", two_nodes.address, "--seeds", 1, "--arm", "plain", "--arm", "merged")
    assert outcome.status == 0, outcome.err
    told = " ".join(outcome.err.split()).count(
        "than this machine (Abacus 1): runs there may differ in their last digits"
    )
    assert told == 1


@pytest.mark.long
def test_more_threads_than_a_machine_has_processors(tmp_path: Path, two_nodes: Any) -> None:
    content = STUDY.replace("[scale.tiny]", "[scale.tiny]\nthreads = 3")
    outcome = run(tmp_path, "--cluster", two_nodes.address, content=content)
    assert outcome.status == 2
    told = "a run has 3 threads, and the largest machine of the cluster has 1 processors"
    assert the_line(outcome) == f"onechange: --cluster {two_nodes.address}: {told}"
    assert not (tmp_path / "out").exists()


# --- a cluster of its own -------------------------------------------------------------------------------------------


def ray_processes(folder: str) -> list[str]:
    """The command lines of all processes that name such a folder."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            line = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
            found += [line] if folder in line else []
    return found


@pytest.mark.long
@pytest.mark.parametrize("killed", [False, True])
def test_a_local_cluster_is_gone_afterwards(tmp_path: Path, whole: Path, killed: bool) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "HOME": str(tmp_path)}
    before = set(Path("/tmp").glob(f"{ray_connection.PREFIX}*"))
    study = subprocess.Popen(
        [sys.executable, "-W", "error", "-m", "onechange", *map(str, words(tmp_path, "--cluster", "local"))],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    if killed:
        pointer = tmp_path / "out/arms/plain/seed-0/checkpoints/last.json"
        for _ in range(900):
            if pointer.exists() or study.poll() is not None:
                break
            time.sleep(0.1)
        assert ray_processes(ray_connection.PREFIX)
        study.kill()
    out, err = study.communicate(timeout=120)
    for _ in range(300):
        if not ray_processes(ray_connection.PREFIX):
            break
        time.sleep(0.1)
    assert not ray_processes(ray_connection.PREFIX)
    assert not (tmp_path / ".ray").exists()
    sweep()
    assert set(Path("/tmp").glob(f"{ray_connection.PREFIX}*")) <= before
    if killed:
        resumed = run(tmp_path, "--jobs", 1, "--resume")
        assert resumed.status == 0, resumed.err
    else:
        assert study.returncode == 0, err
        assert "ray" not in err.lower()
        json.loads(out)
    assert files(tmp_path / "out", TIMES_AND_START) == files(whole, TIMES_AND_START)
