"""Work in several processes: in order, whatever their number; none is left behind."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import onechange
from onechange import workers


def adding(by: int) -> Callable[[int], tuple[int, int]]:
    return lambda number: (number + by, os.getpid())


def refusing(wrong: int) -> Callable[[int], int]:
    def refuse(number: int) -> int:
        if number == wrong:
            raise ValueError(f"{number} is refused")
        return number

    return refuse


def dying(last: int) -> Callable[[int], int]:
    def die(number: int) -> int:
        if number == last:
            os.kill(os.getpid(), signal.SIGKILL)
        return number

    return die


@pytest.mark.parametrize("processes", [1, 2, 3])
def test_results_come_in_order(processes: int) -> None:
    found = list(workers.ordered(adding, (100,), range(30), processes))
    assert [number for number, _ in found] == list(range(100, 130))
    assert ({os.getpid()} == {pid for _, pid in found}) == (processes == 1)


def test_one_thing_or_none_needs_no_process() -> None:
    assert list(workers.ordered(adding, (1,), [4], 8)) == [(5, os.getpid())]
    assert list(workers.ordered(adding, (1,), [], 8)) == []


@pytest.mark.parametrize("processes", [1, 2])
def test_an_error_comes_through_after_what_came_before_it(processes: int) -> None:
    found = workers.ordered(refusing, (3,), range(9), processes)
    assert [next(found) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(ValueError, match="3 is refused"):
        next(found)


def test_a_worker_that_is_killed_is_one_line() -> None:
    with pytest.raises(ChildProcessError, match="ended from outside, perhaps for want of memory"):
        list(workers.ordered(dying, (3,), range(9), 2))


@pytest.fixture
def busy(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], list[int]]]:
    """A process whose two workers are at work, and their ids."""
    source = str(Path(onechange.__file__).parents[1])
    process = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("busy_workers.py")), str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": source},
    )
    wait_for(lambda: len(list(tmp_path.iterdir())) == 2)
    yield process, [int(path.name) for path in tmp_path.iterdir()]
    process.kill()
    process.communicate()


def wait_for(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not true():
        assert time.monotonic() < end, "waited for too long"
        time.sleep(0.01)


def gone(pid: int) -> bool:
    """Whether the process has ended; one that no one has waited for yet has too."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return not alive(pid)


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_workers_end_with_a_parent_that_is_killed(busy: tuple[subprocess.Popen[str], list[int]]) -> None:
    process, ids = busy
    assert not any(map(gone, ids))
    process.kill()
    wait_for(lambda: all(map(gone, ids)))


def test_an_interrupt_ends_workers_quietly(
    busy: tuple[subprocess.Popen[str], list[int]], tmp_path: Path
) -> None:
    process, ids = busy
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all of them
    (tmp_path / "go").touch()
    assert process.communicate(timeout=60) == ("interrupted\n", "")
    assert all(map(gone, ids))
