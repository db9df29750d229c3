"""`import onechange` imports next to nothing, and offers what it says it offers."""

import subprocess
import sys

import pytest

import onechange

HEAVY = ("torch", "numpy", "scipy", "numba", "altair", "vl_convert", "typer", "rich", "pandas")


def loaded(code: str) -> set[str]:
    """Which of the heavy libraries a new process has loaded after ``code``."""
    told = f"{code}\nimport sys\nprint(*(set(sys.modules) & {set(HEAVY)!r}))"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_the_package_loads_nothing_heavy():
    assert loaded("import onechange; dir(onechange); onechange.__version__") == set()


def test_what_is_asked_for_is_loaded():
    assert "torch" in loaded("from onechange import load_run")
    assert loaded("from onechange import Table") == set()


@pytest.mark.parametrize("name", onechange.__all__)
def test_every_public_name_is_there(name: str):
    assert name in dir(onechange)
    found = getattr(onechange, name)
    assert isinstance(found, str) or (found.__name__ == name and found.__doc__)


def test_another_name_is_an_error_that_says_which():
    with pytest.raises(AttributeError, match="module 'onechange' has no attribute 'load_studies'"):
        onechange.load_studies  # type: ignore[attr-defined]  # noqa: B018 (that there is none is the test)
