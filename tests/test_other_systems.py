"""What other systems have otherwise, one by one; `test_without_posix.py` has it all together."""

import io
import os
import queue
import signal
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
import torch

from onechange import apart, atomic, device, processor, study_file
from onechange.encoding import release
from onechange.job_process import JobProcess
from onechange.verbs import ending
from small_studies import STUDY


def test_what_is_being_read_is_replaced_a_little_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace, tries = Path.replace, []

    def busy_twice(self: Path, target: Path) -> Path:
        tries.append(target)
        if len(tries) < 3:
            raise PermissionError(13, "Access is denied")
        return replace(self, target)

    (tmp_path / "file").write_bytes(b"old")
    monkeypatch.setattr(Path, "replace", busy_twice)
    with pytest.raises(PermissionError):
        atomic.write(tmp_path / "file", b"new")
    assert len(tries) == 1 and (tmp_path / "file").read_bytes() == b"old", "here it would be in vain to wait"
    tries.clear()
    monkeypatch.setattr(atomic, "PATIENCE", 60.0)
    atomic.write(tmp_path / "file", b"new")
    assert len(tries) == 3 and (tmp_path / "file").read_bytes() == b"new"


def test_folders_are_not_put_on_the_disk_where_that_cannot_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced = []
    monkeypatch.setattr(os, "fsync", lambda handle: synced.append(os.readlink(f"/proc/self/fd/{handle}")))  # noqa: PTH115
    (tmp_path / "file").touch()
    atomic.sync(tmp_path / "file")
    atomic.sync(tmp_path)
    monkeypatch.setattr(atomic, "os", type("Windows", (), {**vars(os), "name": "nt"}))
    atomic.sync(tmp_path)
    atomic.sync(tmp_path / "file")
    assert synced == [str(tmp_path / "file"), str(tmp_path), str(tmp_path / "file")]


def test_memory_that_is_not_known_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (device.peak_memory(torch.device("cpu")) or 0) > 1e7
    monkeypatch.setattr(Path, "is_file", lambda self: False)
    monkeypatch.setitem(sys.modules, "resource", None)
    assert device.peak_memory(torch.device("cpu")) is None
    monkeypatch.delattr(os, "sysconf")
    assert processor.machine()["memory_bytes"] is None


def test_a_map_that_cannot_be_released_stays(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import mmap

    import numpy as np

    (tmp_path / "ids").write_bytes(bytes(8))
    mapped = np.asarray(np.memmap(tmp_path / "ids", np.uint8, mode="r"))
    release(mapped)

    class Plain(mmap.mmap):
        def __getattribute__(self, name: str) -> Any:
            if name == "madvise":
                raise AttributeError(name)
            return super().__getattribute__(name)

    with (tmp_path / "ids").open("rb") as file:
        plain = Plain(file.fileno(), 0, access=mmap.ACCESS_READ)
    release(np.frombuffer(plain, np.uint8))


def test_windows_needs_its_own_compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setattr(processor.sys, "platform", "win32")
    assert "(cl" in str(processor.why_not_compile())


def test_what_is_started_meanwhile_hears_no_ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = "import signal; print(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, []))"
    for when, told in ((apart.deaf(), b"True\n"), (nullcontext(), b"False\n")):
        with when:
            assert subprocess.check_output([sys.executable, "-c", blocked], creationflags=apart.GROUP) == told
    monkeypatch.delattr(signal, "pthread_sigmask")
    with apart.deaf():
        pass


def test_another_process_is_asked_to_stop_by_a_line(tmp_path: Path) -> None:
    """By no signal: this is all that Windows can do."""
    asked = []
    process = JobProcess(
        queue.SimpleQueue(), "import sys; print(sys.stdin.buffer.readline(), flush=True)", []
    )
    process.stop()
    asked.append(process._inbox.get(timeout=60)[1])
    process.close()
    process.wait(60)
    assert asked == [b"b'\\n'\n"]


@pytest.mark.parametrize("said", [None, "cp1252"])
def test_every_character_can_be_printed(said: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONIOENCODING", raising=False)
    if said:
        monkeypatch.setenv("PYTHONIOENCODING", said)
    stream = io.TextIOWrapper(io.BytesIO(), encoding="cp1252")
    ending.write_anything(stream)
    stream.write("−0.1 ▼ é")
    stream.flush()
    assert stream.buffer.getvalue() == (b"?0.1 ? \xe9" if said else "−0.1 ▼ é".encode())  # type: ignore[attr-defined]
    ending.write_anything(io.StringIO())
    ending.write_anything(None)


@pytest.mark.parametrize("name", ["con", "AUX", "nul.2", "com1", "plain."])
def test_an_arm_has_a_name_that_a_folder_may_have_everywhere(tmp_path: Path, name: str) -> None:
    assert '"merged"' in STUDY
    file = tmp_path / "study.toml"
    file.write_text(STUDY.replace('"merged"', f'"{name}"'), encoding="utf-8")
    with pytest.raises(ValueError, match=f"arm '{name}': Windows"):
        study_file.load(file)


def test_arms_differ_in_more_than_capitals(tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    file.write_text(STUDY.replace('"merged"', '"Plain"'), encoding="utf-8")
    with pytest.raises(ValueError, match=r"'Plain' and 'plain'|'plain' and 'Plain'"):
        study_file.load(file)
