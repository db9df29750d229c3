"""Locks: by `fcntl`, and by `msvcrt` as Windows has it, played here; both must say the same."""

import errno
import fcntl
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any

import pytest

from onechange import os_lock, scratch

HELD = """
import sys, onechange.os_lock
file = open(sys.argv[1], "ab")
print(onechange.os_lock.take(file), flush=True)
sys.stdin.read()
"""


def locking(handle: int, mode: int, size: int) -> None:
    """`msvcrt.locking` of one byte, which raises where another has it and waits for nobody."""
    assert size == 1 and os.lseek(handle, 0, os.SEEK_CUR) == 0, "it is the place in the file that is locked"
    try:
        fcntl.flock(handle, fcntl.LOCK_UN if mode == 0 else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise PermissionError(errno.EACCES, "Permission denied") from None


@pytest.fixture(params=["fcntl", "msvcrt"])
def system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "msvcrt":
        monkeypatch.setattr(os_lock, "fcntl", None)
        monkeypatch.setitem(sys.modules, "msvcrt", SimpleNamespace(locking=locking, LK_NBLCK=2, LK_UNLCK=0))
    return request.param


@pytest.mark.usefixtures("system")
def test_one_has_it_and_another_not_until_it_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with path.open("ab") as first, path.open("ab") as second:
        assert not os_lock.is_taken(path)
        assert os_lock.take(first)
        assert os_lock.is_taken(path) and not os_lock.take(second)
        first.close()
        assert not os_lock.is_taken(path), "who looked has not kept it"
        assert os_lock.take(second)
    assert not os_lock.is_taken(path)


@pytest.mark.usefixtures("system")
def test_it_ends_with_its_process(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    other = subprocess.Popen(
        [sys.executable, "-c", HELD, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    with other:
        assert other.stdout and other.stdout.readline() == "True\n"
        assert os_lock.is_taken(path)
        other.kill()
        other.wait()
        assert not os_lock.is_taken(path)


@pytest.mark.usefixtures("system")
def test_looking_makes_no_file_and_needs_no_right_to_write(tmp_path: Path) -> None:
    assert not os_lock.is_taken(tmp_path / "lock")
    assert not list(tmp_path.iterdir())
    (tmp_path / "lock").touch(0o400)
    assert not os_lock.is_taken(tmp_path / "lock")


def test_what_a_look_took_is_given_back_before_the_file_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    played = SimpleNamespace(locking=lambda handle, mode, size: asked.append(mode), LK_NBLCK=2, LK_UNLCK=0)
    monkeypatch.setattr(os_lock, "fcntl", None)
    monkeypatch.setitem(sys.modules, "msvcrt", played)
    (tmp_path / "lock").touch()
    assert not os_lock.is_taken(tmp_path / "lock")
    assert asked == [2, 0]


def test_a_look_of_another_is_no_lock_where_looking_takes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os_lock, "fcntl", None)
    monkeypatch.setitem(sys.modules, "msvcrt", SimpleNamespace(locking=locking, LK_NBLCK=2, LK_UNLCK=0))
    path = tmp_path / "lock"
    with path.open("ab") as other:
        assert os_lock.take(other)
        monkeypatch.setattr(os_lock.time, "sleep", lambda seconds: fcntl.flock(other, fcntl.LOCK_UN))
        assert not os_lock.is_taken(path)


@pytest.mark.usefixtures("system")
def test_a_folder_is_held_from_before_it_is_there_until_it_is_gone(tmp_path: Path) -> None:
    with scratch.folder("work-", tmp_path, ".part") as place:
        assert place.name.startswith("work-") and place.name.endswith(".part") and place.is_dir()
        (place / "file").touch()
        with scratch.folder("work-", tmp_path, ".part") as second:
            assert place.is_dir() and second != place, "the living one is not swept away"
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("system")
def test_what_the_dead_left_goes_and_what_is_called_otherwise_stays(tmp_path: Path) -> None:
    (tmp_path / "work-1.part").mkdir()
    (tmp_path / "work-1.part" / "file").touch()
    (tmp_path / "work-1.part.lock").touch()
    (tmp_path / "work-2.part").mkdir()  # killed before there were locks beside folders
    (tmp_path / "work-3.part.lock").touch()  # killed between lock and folder
    (tmp_path / "work-4").mkdir()
    with scratch.folder("work-", tmp_path, ".part"):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["work-4"]


@pytest.mark.parametrize("holder", ["a sweeper has the lock", "a sweeper has deleted the lock"])
def test_a_lock_that_was_taken_for_a_dead_ones_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, holder: str
) -> None:
    take, taken = os_lock.take, []

    def first_fails(file: IO[Any]) -> bool:
        taken.append(file)
        if len(taken) > 1:
            return take(file)
        if "deleted" in holder:
            next(tmp_path.glob("work-*.lock")).unlink()
            return take(file)
        return False

    monkeypatch.setattr(os_lock, "take", first_fails)
    with scratch.folder("work-", tmp_path) as place:
        assert len(taken) == 2 and place.with_name(place.name + ".lock").exists()
