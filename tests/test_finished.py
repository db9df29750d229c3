"""Folders that are there whole or not at all."""

import json
from pathlib import Path
from typing import Any

import pytest

from onechange import finished, os_lock
from onechange.finished import MARK, Filling


def fill(filling: Filling) -> dict[str, Any]:
    filling.writer("numbers").write(b"123")
    (filling.path / "words").write_bytes(b"abc")
    filling.wrote("words")
    return {"about": "both"}


def made(folder: Path, how: Any = fill) -> None:
    finished.make(folder, how, lambda: 6_000_000)


def test_what_is_made_is_read(tmp_path: Path) -> None:
    made(tmp_path / "cache" / "one")
    mark = finished.read(tmp_path / "cache" / "one")
    assert mark is not None and mark["about"] == "both"
    assert mark["files"] == {
        "words": {"bytes": 3, "crc32": 0x352441C2},  # published values of CRC-32
        "numbers": {"bytes": 3, "crc32": 0x884863D2},
    }
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["one"]


@pytest.mark.parametrize("name", ["words", "numbers", MARK])
def test_every_byte_counts(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "one"
    made(folder)
    file, content = folder / name, (folder / name).read_bytes()
    for at in range(len(content)):
        file.write_bytes(content[:at] + bytes([content[at] ^ 4]) + content[at + 1 :])
        assert finished.read(folder) is None
    for other in (content[:-1], content + b"x", b""):
        file.write_bytes(other)
        assert finished.read(folder) is None
    file.unlink()
    assert finished.read(folder) is None
    file.write_bytes(content)
    assert finished.read(folder) is not None


def test_of_a_trusted_file_only_the_size_counts(tmp_path: Path) -> None:
    made(tmp_path / "one")
    (tmp_path / "one" / "words").write_bytes(b"abd")
    assert finished.read(tmp_path / "one") is None
    assert finished.read(tmp_path / "one", trusted=["words"]) is not None
    (tmp_path / "one" / "words").write_bytes(b"ab")
    assert finished.read(tmp_path / "one", trusted=["words"]) is None


@pytest.mark.parametrize("error", [ValueError("no"), KeyboardInterrupt()], ids=["error", "interrupt"])
def test_nothing_is_left_of_what_was_not_finished(tmp_path: Path, error: BaseException) -> None:
    def broken(filling: Filling) -> dict[str, Any]:
        fill(filling)
        raise error

    with pytest.raises(type(error)):
        made(tmp_path / "one", broken)
    assert not list(tmp_path.iterdir())


def test_a_damaged_folder_is_replaced_and_a_whole_one_stays(tmp_path: Path) -> None:
    def other(filling: Filling) -> dict[str, Any]:
        return {"about": "nothing"}

    made(tmp_path / "one")
    made(tmp_path / "one", other)
    mark = finished.read(tmp_path / "one")
    assert mark is not None and mark["about"] == "both", "the first one stays"
    (tmp_path / "one" / "words").unlink()
    made(tmp_path / "one", other)
    mark = finished.read(tmp_path / "one")
    assert mark == {"about": "nothing", "files": {}}
    assert [path.name for path in tmp_path.iterdir()] == ["one"]


def test_leavings_of_the_dead_are_swept_and_work_of_the_living_stays(tmp_path: Path) -> None:
    dead, living, others = (tmp_path / f".{name}.part" for name in ("one-dead", "one-living", "two-dead"))
    for folder in (dead, living, others):
        folder.mkdir()
        (folder / "half").write_bytes(b"x")
    lock = tmp_path / f"{living.name}.lock"
    with lock.open("wb") as held:
        assert os_lock.take(held)
        made(tmp_path / "one")
    assert sorted(tmp_path.iterdir()) == sorted([living, lock, others, tmp_path / "one"])


def test_a_mark_is_no_pickle_and_names_its_files(tmp_path: Path) -> None:
    made(tmp_path / "one")
    digest, content = (tmp_path / "one" / MARK).read_bytes().split(b"\n")
    assert len(digest) == 64
    assert set(json.loads(content)["files"]) == {"words", "numbers"}
