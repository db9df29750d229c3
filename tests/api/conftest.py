"""A small study, run once through the Python interface."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from onechange import Results, Study, load_study
from small_studies import STUDY


@pytest.fixture(scope="session", autouse=True)
def _alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("file") / "merges.toml"
    path.write_text(STUDY, encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def study(file: Path) -> Study:
    return load_study(file)


@pytest.fixture(scope="session")
def results(study: Study, tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Three arms, three seeds: enough for a verdict."""
    return study.run(scale="tiny", out=tmp_path_factory.mktemp("studies") / "run", seeds=3, quiet=True)
