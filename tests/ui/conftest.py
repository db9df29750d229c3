"""Small finished studies for all tests of the server, made once; a test that changes one takes a copy.

What a module needs of the playground is one of each: a study, the application, its address, a client, a browser."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import browser
import pytest
from starlette.testclient import TestClient

import small_playground
from small_playground import PLACE, serving
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


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_playground.trained_once(tmp_path_factory)


@pytest.fixture(scope="module")
def application(study: Path) -> Any:
    return small_playground.application(study)


@pytest.fixture(scope="module")
def address(application: Any) -> Iterator[str]:
    with serving(application) as found:
        yield found + PLACE


@pytest.fixture(scope="module")
def client(study: Path) -> Iterator[TestClient]:
    with TestClient(small_playground.application(study)) as found:
        yield found


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[browser.Browser]:
    window = browser.Browser(tmp_path_factory.mktemp("profile"))
    yield window
    window.close()
