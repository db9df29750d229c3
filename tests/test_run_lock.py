"""One writer in a run's folder at a time, and none after its process."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from onechange.run_lock import is_locked, locked

HOLD = """
import sys
from pathlib import Path
from onechange.run_lock import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def held_by_another_process(run: Path) -> Iterator[subprocess.Popen[str]]:
    other = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(run)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert other.stdin and other.stdout
    assert other.stdout.readline() == "held\n"
    yield other
    other.kill()
    other.wait()
    other.stdin.close()
    other.stdout.close()


def test_a_second_writer_is_refused_in_one_line(tmp_path: Path) -> None:
    run = tmp_path / "seed-0"
    with held_by_another_process(run):
        assert is_locked(run)
        with pytest.raises(BlockingIOError, match=rf"^{run} is in use: [^\n]*$"), locked(run, patience=0.1):
            pass
        assert is_locked(run), "asking has not freed it"


def test_the_lock_ends_with_its_process_and_who_waits_gets_it(tmp_path: Path) -> None:
    with held_by_another_process(tmp_path) as other:
        other.kill()
        with locked(tmp_path, patience=60.0):
            assert is_locked(tmp_path)
    assert not is_locked(tmp_path)


def test_where_nobody_ever_wrote_nothing_is_locked_and_nothing_is_made(tmp_path: Path) -> None:
    assert not is_locked(tmp_path)
    assert not is_locked(tmp_path / "no" / "such")
    assert list(tmp_path.iterdir()) == []


def test_who_only_asks_keeps_no_writer_out(tmp_path: Path) -> None:
    with locked(tmp_path):
        pass
    for _ in range(100):
        assert not is_locked(tmp_path)
        with locked(tmp_path, patience=0.0):
            pass
