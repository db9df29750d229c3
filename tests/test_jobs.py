"""Runs side by side: the same bytes, whoever trains them and whatever dies meanwhile."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from onechange import estimate, jobs, processor, run_lock
from onechange import study_file as study_file_module
from onechange.plan import Means, Plan
from onechange.run_lock import is_locked, locked
from small_studies import (
    STUDY,
    TIMES,
    Nursery,
    Outcome,
    files,
    in_haste,
    onechange,
    study_file,
    without_times,
)

ARMS = ("plain", "merged", "turned")
ENDLESS = STUDY.replace("steps = 6", "steps = 100000")
WILD = STUDY.replace(
    "[sampling]",
    '[[arm]]\nname = "wild"\nfrom = "plain"\nchange.optimizer = { learning_rate = 1e30 }\n\n[sampling]',
)
NO_PAGE = "import onechange.laboratory\nonechange.laboratory.report.write = lambda folder: None\n"
TIMES_AND_START = (*TIMES, "start.json")
"""`start.json` holds the command."""


@pytest.fixture(scope="module", autouse=True)
def _alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with in_haste(tmp_path_factory.mktemp("cache")):
        yield


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The study with two seeds, one run after the other."""
    folder = tmp_path_factory.mktemp("whole")
    outcome = run(folder, "--jobs", 1)
    assert outcome.status == 0, outcome.err
    return folder / "out"


@pytest.fixture(scope="module")
def nursery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nursery]:
    found = Nursery(tmp_path_factory.mktemp("nursery"))
    yield found
    found.close()


def words(folder: Path, *more: object, content: str = STUDY) -> list[object]:
    file = study_file(folder, content)
    return ["run", file, "--scale", "tiny", "--seeds", 2, "--out", folder / "out", "--json", *more]


def run(folder: Path, *more: object, content: str = STUDY) -> Outcome:
    return onechange(*words(folder, *more, content=content))


def at_step(step: int, arm: str, then: str) -> str:
    """The program of jobs that do ``then`` after a step of an arm, with ``""`` of every arm."""
    return f"""
import sys; sys.path[:] = sys.argv[1:]
import os, signal, time
from onechange import job, orders
execute = orders.execute
def executed(*given):
    watch = given[5]
    def watching(moment):
        watch(moment)
        if moment.step == {step} and "/arms/{arm}" in str(given[4]):
            {then}
    execute(*given[:5], watching)
orders.execute = executed
job.main()
"""


def test_side_by_side_is_bit_for_bit_one_after_the_other(tmp_path: Path, whole: Path) -> None:
    outcome = run(tmp_path, "--jobs", 2)
    assert outcome.status == 0, outcome.err
    assert len(files(whole)) > 60
    assert files(tmp_path / "out", TIMES_AND_START) == files(whole, TIMES_AND_START)
    assert without_times(outcome.document) == without_times(json.loads((whole / "results.json").read_text()))


@pytest.mark.long
@pytest.mark.parametrize("number", [3, 5])
def test_with_any_number_of_jobs(tmp_path: Path, whole: Path, number: int) -> None:
    outcome = run(tmp_path, "--jobs", number)
    assert outcome.status == 0, outcome.err
    assert files(tmp_path / "out", TIMES_AND_START) == files(whole, TIMES_AND_START)


def test_a_killed_job_is_one_line_and_the_study_resumes(
    tmp_path: Path, whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(jobs, "PROGRAM", at_step(4, "merged", "os.kill(os.getpid(), signal.SIGKILL)"))
        outcome = run(tmp_path, "--jobs", 2)
    assert outcome.status == 2
    (line,) = [line for line in outcome.err.splitlines() if line.startswith("onechange: ")]
    assert str(tmp_path / "out/arms/merged/seed-0") in line
    assert "SIGKILL" in line
    assert "--resume goes on, with fewer --jobs if memory ran out" in line
    assert "Traceback" not in outcome.err
    assert not (tmp_path / "out/arms/merged/seed-0/measures.json").exists()
    assert not any(is_locked(tmp_path / f"out/arms/{arm}/seed-{seed}") for arm in ARMS for seed in (0, 1))
    resumed = run(tmp_path, "--jobs", 2, "--resume")
    assert resumed.status == 0, resumed.err
    assert files(tmp_path / "out", TIMES_AND_START) == files(whole, TIMES_AND_START)


def test_jobs_whose_study_was_killed_are_gone_soon(tmp_path: Path, whole: Path, nursery: Nursery) -> None:
    hang = at_step(4, "", "time.sleep(60)")
    program = f"""{NO_PAGE}
import os, signal, onechange.jobs
from onechange.verbs.progress import Progress
onechange.jobs.PROGRAM = {hang!r}
watch = Progress.watch
seen = set()
def watching(self, arm, seed, moment):
    watch(self, arm, seed, moment)
    if moment.step >= 3:
        seen.add(arm)
    if len(seen) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
Progress.watch = watching
"""
    outcome = nursery.onechange(words(tmp_path, "--jobs", 2), program)
    assert outcome.status == -signal.SIGKILL, outcome
    for arm in ARMS:  # a job that hangs holds its run's lock
        with locked(tmp_path / f"out/arms/{arm}/seed-0", patience=30.0):
            pass
    resumed = run(tmp_path, "--jobs", 1, "--resume")
    assert resumed.status == 0, resumed.err
    assert files(tmp_path / "out", TIMES_AND_START) == files(whole, TIMES_AND_START)


def test_a_study_that_is_told_to_end_passes_it_on(tmp_path: Path, nursery: Nursery) -> None:
    program = f"""{NO_PAGE}
import os, signal
from onechange.verbs.progress import Progress
def watching(self, arm, seed, moment):
    os.kill(os.getpid(), signal.SIGTERM)
Progress.watch = watching
signal.alarm(60)  # far less than jobs that were not asked would be waited for
"""
    outcome = nursery.onechange(words(tmp_path, "--jobs", 2, content=ENDLESS), program)
    assert outcome.status == 128 + signal.SIGTERM, outcome
    assert "stopping: 2 runs" in outcome.err
    assert not any(is_locked(tmp_path / f"out/arms/{arm}/seed-0") for arm in ARMS)


@pytest.mark.long
def test_ctrl_c_in_a_terminal_stops_study_and_jobs(tmp_path: Path) -> None:
    study = subprocess.Popen(
        [sys.executable, "-m", "onechange", *map(str, words(tmp_path, "--jobs", 2, content=ENDLESS))],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    pointers = [tmp_path / f"out/arms/{arm}/seed-0/checkpoints/last.json" for arm in ("plain", "merged")]
    for _ in range(600):
        if all(path.exists() for path in pointers) or study.poll() is not None:
            break
        time.sleep(0.1)
    os.killpg(study.pid, signal.SIGINT)
    out, err = study.communicate(timeout=60)
    assert study.returncode == 130, err
    assert out == ""
    assert "--resume" in err.splitlines()[-1]
    assert "Traceback" not in err
    with pytest.raises(ProcessLookupError):  # nobody is left in the group
        os.killpg(study.pid, 0)


@pytest.mark.long
def test_a_job_obeys_no_ctrl_c_and_keeps_what_is_printed_to_itself(
    tmp_path: Path, whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    noise = "os.kill(os.getpid(), signal.SIGINT); print('noise'); print('noise', file=sys.stderr)"
    monkeypatch.setattr(jobs, "PROGRAM", at_step(4, "", noise))
    outcome = run(tmp_path, "--jobs", 2)
    assert outcome.status == 0, outcome.err
    assert "noise" not in outcome.err
    assert files(tmp_path / "out", TIMES_AND_START) == files(whole, TIMES_AND_START)


@pytest.mark.long
def test_our_own_mistake_in_a_job_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "PROGRAM", at_step(4, "plain", "assert False, 'impossible'"))
    outcome = run(tmp_path, "--jobs", 2)
    assert outcome.status == 2
    assert "AssertionError: impossible" in outcome.err
    line = outcome.err.splitlines()[-1]
    died = (
        f"onechange: {tmp_path / 'out/arms/plain/seed-0'}: its process ended with status 1; --resume goes on"
    )
    assert line == died


@pytest.mark.long
def test_what_a_person_can_mend_stops_the_study_with_the_line_of_one_job(tmp_path: Path) -> None:
    lines = []
    for number in (1, 2):
        folder = tmp_path / str(number)
        samples = folder / "out/arms/merged/seed-0/samples"
        samples.parent.mkdir(parents=True)
        samples.write_text("a file where a folder must be")
        outcome = run(folder, "--jobs", number)
        assert outcome.status == 2
        lines.append(outcome.err.splitlines()[-1].replace(str(folder), ""))
    assert lines[0] == lines[1]
    assert "merged/seed-0/samples" in lines[0]


@pytest.mark.long
def test_a_run_that_fails_stops_no_other(tmp_path: Path) -> None:
    outcome = run(tmp_path, "--jobs", 2, "--seeds", 1, content=WILD)
    assert outcome.status == 1, outcome.err
    assert "wild, seed 0: stopped, the " in outcome.err
    states = {arm["name"]: arm["runs"][0]["status"] for arm in outcome.document["arms"]}
    assert states == {**dict.fromkeys(ARMS, "finished"), "wild": "failed"}
    alone = run(tmp_path, "--jobs", 1, "--seeds", 1, "--resume", content=WILD)
    assert without_times(alone.document) == without_times(outcome.document)


@pytest.mark.parametrize("number", [1, pytest.param(2, marks=pytest.mark.long)])
def test_a_run_that_another_process_trains_is_left_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    impatient = "import onechange.run_lock as lock; lock.PATIENCE = 0.1; from onechange.job"
    monkeypatch.setattr(jobs, "PROGRAM", jobs.PROGRAM.replace("from onechange.job", impatient))
    monkeypatch.setattr(run_lock, "PATIENCE", 0.1)
    with locked(tmp_path / "out/arms/plain/seed-0"):
        outcome = run(tmp_path, "--jobs", number)
    assert outcome.status == 2
    assert "plain/seed-0 is in use: another process trains this run" in outcome.err.splitlines()[-1]
    assert [path.name for path in (tmp_path / "out/arms/plain/seed-0").iterdir()] == [".lock"]


# --- how many, and how long -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scale", "threads", "processors", "runs", "asked", "number"),
    [
        ("quick", 1, 2, 9, None, 2),
        ("quick", 2, 2, 9, None, 1),
        ("quick", 2, 7, 9, None, 3),
        ("quick", 4, 2, 9, None, 1),
        ("quick", 1, 64, 9, None, 9),
        ("quick", 1, 64, 9, 4, 4),
        ("quick", 2, 2, 9, 3, 3),
        ("quick", 1, 2, 1, 3, 1),
        ("quick", 1, 2, 0, 3, 1),
        ("tiny", 1, 64, 9, None, 1),
        ("tiny", 1, 64, 9, 3, 3),
    ],
)
def test_how_many_go_side_by_side(
    monkeypatch: pytest.MonkeyPatch,
    scale: str,
    threads: int,
    processors: int,
    runs: int,
    asked: int | None,
    number: int,
) -> None:
    monkeypatch.setattr(processor, "threads", lambda wanted: wanted or processors)
    study = study_file_module.read(study_file_module.locate("tokenizers-and-positions"))
    plan = Plan(study, scale, {}, [0], study.arm_names, Means(threads, "float32", False))
    assert jobs.count(plan, runs, asked) == number


def test_an_estimate_of_runs_side_by_side_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    assert estimate.side_by_side([3, 1, 2, 4], 1) == 10
    assert estimate.side_by_side([3, 1, 2, 4], 2) == 7, "1 and 2 fill the time of 3, then 4"
    assert estimate.side_by_side([3, 1, 2, 4], 3) == 5
    assert estimate.side_by_side([3, 1, 2, 4], 9, slower=2.0) == 8
    assert estimate.side_by_side([], 2) == 0
    monkeypatch.setattr(processor, "threads", lambda wanted: wanted or 4)
    assert [estimate.crowding(number, 2) for number in (1, 2, 3, 4)] == [1, 1, 1.5, 2]


def test_a_dry_run_counts_with_jobs(tmp_path: Path) -> None:
    told = {
        number: run(tmp_path, "--dry-run", "--seeds", 1, "--jobs", number).document for number in (1, 2, 9)
    }
    assert {number: found["jobs"] for number, found in told.items()} == {1: 1, 2: 2, 9: 3}
    for found in told.values():
        each = [arm["seconds_per_step"] * arm["steps"] for arm in found["arms"]]
        slower = max(1, found["jobs"] / processor.threads(0))
        by_hand = {
            1: sum(each),
            2: min(max(each[0] + each[2], each[1]), max(each[0], each[1] + each[2])) * slower,
            3: max(each) * slower,
        }
        assert found["estimated_seconds"] == pytest.approx(by_hand[found["jobs"]])
