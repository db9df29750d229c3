"""A whole study killed, stopped, out of room: whatever happens, it ends as if nothing had happened, samples too."""

import json
import os
import shlex
import signal
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from small_studies import Nursery, Outcome, files, in_haste, onechange
from test_laboratory import TIMES_AND_START, arguments, run, same_results, tale, text_file

QUIET = """
import os, onechange.laboratory
onechange.laboratory.report.write = lambda folder: None
os.fsync = lambda file: None
"""
"""The page takes longer than the study; what a power cut would lose is not tested here."""

WARM = """
import sys, tempfile
sys.path.insert(0, {tests!r})
from pathlib import Path
import killed_runs, onechange.corpus.file, onechange.tokenizer.bpe, onechange.position.rope, scipy.stats
with tempfile.TemporaryDirectory() as folder:
    killed_runs.train(Path(folder), killed_runs.recipe(steps=1))
"""


@pytest.fixture(scope="module", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with in_haste(tmp_path_factory.mktemp("cache")):
        yield


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Thirty stories, three of them to validate on."""
    return text_file(tmp_path_factory.mktemp("text") / "tales.txt", [tale(number) for number in range(30)])


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, text: Path) -> Path:
    """The study that was left alone."""
    folder = tmp_path_factory.mktemp("whole")
    assert run(folder, text).status == 0
    return folder / "out"


@pytest.fixture(scope="module")
def nursery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nursery]:
    found = Nursery(tmp_path_factory.mktemp("nursery"), WARM.format(tests=str(Path(__file__).parent)))
    yield found
    found.close()


def ends_like(out: Path, whole: Path) -> None:
    """Every weight, figure and sample is that of the study that was left alone, to the byte."""
    found, expected = files(out, TIMES_AND_START), files(whole, TIMES_AND_START)
    assert found.keys() == expected.keys()
    assert [name for name in found if found[name] != expected[name]] == []
    assert same_results(out, whole)
    assert any("samples" in name for name in expected)


# --- SIGKILL at random instants -------------------------------------------------------------------------------------

KILL = (
    QUIET
    + """
import sys
sys.path.insert(0, {tests!r})
import killed_runs
from pathlib import Path
from onechange import checkpoint, engine, evaluate, laboratory, record, run, written
instants = killed_runs.Instants(Path({out!r}), {kill_at})
killed_runs.instrument(instants)
for place, name in [(run, "measure"), (written, "generate"), (written, "measured"), (record, "collect")]:
    instants.before(place, name, after=True)
import atexit, json
real_exit = os._exit
def leave(status):
    Path({told!r}).write_text(json.dumps(instants.passed))
    real_exit(status)
os._exit = leave
"""
)


class Killer:
    """Runs the study in children that die at a chosen instant."""

    def __init__(self, nursery: Nursery, text: Path, folder: Path) -> None:
        self.nursery, self.text, self.folder = nursery, text, folder

    def run(self, folder: Path, kill_at: int | None, *words: object) -> Outcome:
        program = KILL.format(
            tests=str(Path(__file__).parent),
            out=str(folder / "out"),
            kill_at=kill_at,
            told=str(self.folder / "instants"),
        )
        return self.nursery.onechange(arguments(folder, self.text, *words), program)

    def instants(self) -> list[str]:
        """Those that the last run passed, which was not killed."""
        return json.loads((self.folder / "instants").read_text())


@pytest.fixture
def killer(nursery: Nursery, text: Path, tmp_path: Path) -> Killer:
    return Killer(nursery, text, tmp_path)


@pytest.mark.parametrize("wanted", [8, pytest.param(36, marks=pytest.mark.long)])
def test_many_kills_at_random_instants(killer: Killer, tmp_path: Path, whole: Path, wanted: int):
    """One study killed again and again at instants drawn anew, until it ends by itself."""
    (tmp_path / "left").mkdir()
    assert killer.run(tmp_path / "left", None).status == 0
    instants = killer.instants()
    ends_like(tmp_path / "left" / "out", whole)
    assert {"amid write", "amid save_file", "after loss", "after update", "after measure"} <= set(instants)
    random = np.random.default_rng(7)
    kills, number = 0, 0
    while kills < wanted:
        number += 1
        folder = tmp_path / f"killed-{number}"
        folder.mkdir()
        while True:
            kill_at = int(random.integers(len(instants) // 3))
            outcome = killer.run(folder, kill_at, "--resume")
            if outcome.status == 0:
                break
            assert outcome.status == -signal.SIGKILL, outcome
            kills += 1
        ends_like(folder / "out", whole)


@pytest.mark.long
@pytest.mark.parametrize("part", range(8))
def test_a_kill_at_any_instant_of_a_study(killer: Killer, tmp_path: Path, whole: Path, part: int):
    (tmp_path / "left").mkdir()
    assert killer.run(tmp_path / "left", None).status == 0
    instants = killer.instants()
    for kill_at in range(part, len(instants), 8):
        folder = tmp_path / f"killed-{kill_at}"
        folder.mkdir()
        assert killer.run(folder, kill_at).status == -signal.SIGKILL
        assert killer.run(folder, None, "--resume").status == 0
        ends_like(folder / "out", whole)


# --- Ctrl-C and SIGTERM ---------------------------------------------------------------------------------------------

SIGNAL = (
    QUIET
    + """
import signal
from onechange import orders
signal.signal(signal.SIGINT, signal.default_int_handler)
original, runs = orders.execute, []
def signalled(recipe, data, sampling, prompts, run, watch, *rest, **named):
    runs.append(run)
    def watching(moment):
        watch(moment)
        if len(runs) == 2 and moment.step == {step}:
            for _ in range({times}):
                os.kill(os.getpid(), signal.{name})
    return original(recipe, data, sampling, prompts, run, watching, *rest, **named)
orders.execute = signalled
"""
)


@pytest.mark.parametrize(("name", "status"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_a_signal_finishes_the_step_saves_and_says_how_to_go_on(
    nursery: Nursery, text: Path, tmp_path: Path, whole: Path, name: str, status: int
):
    words = arguments(tmp_path, text)
    stopped = nursery.onechange(words, SIGNAL.format(name=name, times=1, step=4))
    assert stopped.status == status, stopped
    assert stopped.out == ""
    last = stopped.err.splitlines()[-1]
    told, _, command = last.partition("; to go on: ")
    assert told == "onechange: stopped; step 5 of 6 is saved"
    assert shlex.split(command) == ["onechange", *map(str, words), "--resume"]
    pointer = tmp_path / "out/arms/merged/seed-0/checkpoints/last.json"
    assert json.loads(pointer.read_text())["step"] == 5
    assert onechange(*shlex.split(command)[1:]).status == 0
    ends_like(tmp_path / "out", whole)


def test_a_second_ctrl_c_stops_at_once(nursery: Nursery, text: Path, tmp_path: Path, whole: Path):
    stopped = nursery.onechange(arguments(tmp_path, text), SIGNAL.format(name="SIGINT", times=2, step=4))
    assert stopped.status == 130, stopped
    assert "; to go on: onechange run " in stopped.err.splitlines()[-1]
    pointer = tmp_path / "out/arms/merged/seed-0/checkpoints/last.json"
    assert json.loads(pointer.read_text())["step"] == 3, "of the last evaluation"
    assert run(tmp_path, text, "--resume").status == 0
    ends_like(tmp_path / "out", whole)


# --- no room, no right to write -------------------------------------------------------------------------------------

FULL = (
    KILL
    + """
import resource
def full(name, halfway=lambda: None):
    if len(instants.passed) == {full_at}:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
    instants.passed.append(name)
instants.here = full
"""
)
"""From one instant on no file of this process may grow, as on a full disk (Python ignores the signal of it)."""


@pytest.mark.parametrize("instants", [1, pytest.param(7, marks=pytest.mark.long)])
def test_a_disk_that_is_full_at_any_instant_is_one_line_and_the_study_goes_on_later(
    nursery: Nursery, text: Path, tmp_path: Path, whole: Path, instants: int
):
    random = np.random.default_rng(3)
    for number, full_at in enumerate([0, *random.integers(430, size=instants)]):
        folder = tmp_path / str(number)
        folder.mkdir()
        program = FULL.format(
            tests=str(Path(__file__).parent),
            out=str(folder / "out"),
            kill_at=None,
            told=os.devnull,
            full_at=full_at,
        )
        full = nursery.onechange(arguments(folder, text), program)
        assert full.status == 2, (full_at, full)
        last = full.err.splitlines()[-1]
        assert last.startswith(f"onechange: {folder / 'out'}/"), "the file is named"
        assert "File too large" in last
        assert "Traceback" not in full.err
        assert run(folder, text, "--resume").status == 0
        ends_like(folder / "out", whole)


POWERLESS = (
    QUIET
    + """
import ctypes
if os.geteuid() == 0:  # root writes wherever it likes, until it gives that up: capabilities(7)
    libc = ctypes.CDLL(None, use_errno=True)
    head, sets = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    assert libc.capget(head, sets) == 0
    for place in (0, 1, 2):
        sets[place] &= ~0b1111
    assert libc.capset(head, sets) == 0
"""
)


@pytest.mark.parametrize(
    "place", [".", "out", "out/arms/merged/seed-0", "out/arms/merged/seed-0/checkpoints"]
)
def test_a_folder_where_nothing_may_be_written_is_one_line_and_the_study_goes_on_later(
    nursery: Nursery, text: Path, tmp_path: Path, whole: Path, place: str
):
    words = arguments(tmp_path, text)
    if place != ".":
        assert nursery.onechange(words, SIGNAL.format(name="SIGKILL", times=1, step=4)).status == -9
    folder = tmp_path / place
    folder.chmod(0o555)
    try:
        refused = nursery.onechange([*words, "--resume"], POWERLESS)
    finally:
        folder.chmod(0o755)
    assert refused.status == 2, refused
    last = refused.err.splitlines()[-1]
    assert last.startswith(f"onechange: {folder}") and last.endswith("Permission denied"), refused
    assert "Traceback" not in refused.err
    assert run(tmp_path, text, "--resume").status == 0
    ends_like(tmp_path / "out", whole)


# --- two processes --------------------------------------------------------------------------------------------------

SECOND = (
    QUIET
    + """
import json, subprocess, sys
from pathlib import Path
from onechange import orders
original = orders.execute
def doubled(recipe, data, sampling, prompts, run, watch, *rest, **named):
    def watching(moment):
        watch(moment)
        if run.parent.name == "plain" and moment.step == 2:
            words = [sys.executable, "-m", "onechange", "run", "--out", {out!r}, "--resume"]
            second = subprocess.run(words, capture_output=True, text=True)
            Path({told!r}).write_text(json.dumps([second.returncode, second.stdout, second.stderr]))
    return original(recipe, data, sampling, prompts, run, watching, *rest, **named)
orders.execute = doubled
"""
)


def test_of_two_processes_on_one_folder_the_second_is_refused(
    nursery: Nursery, text: Path, tmp_path: Path, whole: Path
):
    told, out = tmp_path / "told", tmp_path / "out"
    first = nursery.onechange(arguments(tmp_path, text), SECOND.format(told=str(told), out=str(out)))
    assert first.status == 0, first
    status, stdout, stderr = json.loads(told.read_text())
    assert (status, stdout) == (2, "")
    assert stderr == f"onechange: {out} is in use: another process runs this study\n"
    ends_like(out, whole)
