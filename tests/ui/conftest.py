"""One small finished study for all tests of the server, made once; a test that changes it takes a copy."""

import shutil
from pathlib import Path

import pytest

from small_studies import in_haste
from test_laboratory import run, tale, text_file


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished study of three arms with one seed."""
    folder = tmp_path_factory.mktemp("finished")
    text = text_file(folder / "tales.txt", [tale(number) for number in range(30)])
    with in_haste(tmp_path_factory.mktemp("cache")):
        outcome = run(folder, text)
    assert outcome.status == 0, outcome
    return folder / "out"


@pytest.fixture
def studies(tmp_path: Path, finished: Path) -> Path:
    """A folder with two studies."""
    folder = tmp_path / "studies"
    for name in ("first", "second"):
        shutil.copytree(finished, folder / name)
    return folder
