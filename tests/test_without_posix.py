"""On a system without POSIX, played by `without_posix/sitecustomize.py`: everything is imported, and a study runs.

Windows itself has never seen these tests from here; what is played is what Python's documentation says it lacks.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from small_studies import TIMES, files, in_haste, onechange, study_file

HERE = Path(__file__).parent
TIMES_AND_START = (*TIMES, "start.json")
"""`start.json` holds the command."""
EVERYTHING = """
import importlib, pkgutil, sys, onechange
names = [found.name for found in pkgutil.walk_packages(onechange.__path__, "onechange.")]
for name in names:
    if not name.endswith("__main__"):
        importlib.import_module(name)
print(len(names))
"""
NO_PAGE = """
import onechange.laboratory
onechange.laboratory.report.write = lambda folder: None
from onechange.cli import main
main()
"""
WHAT_IS_PLAYED = """
import os, signal, sys
found = []
try:
    import fcntl
except ImportError:
    found.append("no fcntl")
found += [name for name in ("fork", "sysconf", "killpg", "nice") if hasattr(os, name)]
found += [name for name in ("SIGKILL", "pthread_sigmask", "alarm") if hasattr(signal, name)]
found += [os.name, sys.platform]
print(found)
"""


def without_posix(*words: str, cwd: Path | None = None) -> str:
    """What Python prints on its standard output when it is given ``words``."""
    modules = [str(HERE / "without_posix"), str(HERE.parent / "src"), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        [sys.executable, "-W", "error", *words],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, modules)), "OMP_NUM_THREADS": "1"},
        cwd=cwd,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_what_windows_lacks_is_hidden_from_onechange_alone() -> None:
    for name, found in (("onechange.here", ["no fcntl", "nt", "win32"]), ("another", None)):
        told = without_posix("-c", f"exec({WHAT_IS_PLAYED!r}, {{'__name__': {name!r}}})").strip()
        assert (told == str(found)) == (found is not None), told


def test_every_module_can_be_imported() -> None:
    assert int(without_posix("-c", EVERYTHING)) > 200


@pytest.mark.long
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_study_ends_with_the_same_files(tmp_path: Path, jobs: int) -> None:
    words = ["run", study_file(tmp_path), "--scale", "tiny", "--arm", "plain", "--arm", "merged", "--out"]
    with in_haste(tmp_path / "cache"):
        here = onechange(*words, tmp_path / "here", "--jobs", 1)
        assert here.status == 0, here.err
        without_posix(
            "-c",
            NO_PAGE,
            *map(str, [*words, tmp_path / "there", "--jobs", jobs]),
        )
    assert files(tmp_path / "here", TIMES_AND_START) == files(tmp_path / "there", TIMES_AND_START)
