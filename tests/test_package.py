"""The package that people install: what is in it, that it is the same however it is built, and that it runs alone."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

import onechange

pytest.importorskip("hatchling")

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "onechange"
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
CONSUMER = """
from pathlib import Path
from onechange import study_file
found: dict[str, Path] = study_file.builtin()
wrong: int = study_file.builtin()
"""


@dataclass(frozen=True)
class Built:
    """The two files of a release."""

    wheel: Path
    sdist: Path


def build(tree: Path, out: Path, *targets: str) -> list[Path]:
    """Run the build backend in ``tree``; returns what it made."""
    words = [word for target in targets for word in ("-t", target)]
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", str(out), *words],
        cwd=tree,
        check=True,
        capture_output=True,
    )
    return sorted(out.iterdir())


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    wheel, sdist = build(ROOT, tmp_path_factory.mktemp("dist"))
    return Built(wheel, sdist)


def content(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def test_the_wheel_holds_the_package_and_nothing_else(built: Built) -> None:
    found = content(built.wheel)
    about = f"onechange-{onechange.__version__}.dist-info/"
    tree = {
        f"onechange/{path.relative_to(SOURCE).as_posix()}": path.read_bytes()
        for path in SOURCE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {name: value for name, value in found.items() if not name.startswith(about)} == tree
    assert "onechange/py.typed" in tree and "onechange/studies/positions.toml" in tree
    assert {name.removeprefix(about) for name in found if name.startswith(about)} == {
        "METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE",
    }  # fmt: skip
    assert found[f"{about}licenses/LICENSE"] == (ROOT / "LICENSE").read_bytes()
    metadata = found[f"{about}METADATA"].decode()
    for line in ("License-Expression: MIT", f"Version: {onechange.__version__}", "Requires-Python: >=3.11"):
        assert f"\n{line}\n" in metadata
    assert "Root-Is-Purelib: true" in found[f"{about}WHEEL"].decode()


def test_the_source_distribution_builds_the_same_wheel(built: Built, tmp_path: Path) -> None:
    with tarfile.open(built.sdist) as opened:
        opened.extractall(tmp_path, filter="data")
    (tree,) = tmp_path.iterdir()
    there = {path.relative_to(tree).as_posix() for path in tree.rglob("*") if path.is_file()}
    for name in (
        "LICENSE",
        "CITATION.cff",
        "Makefile",
        "constraints.txt",
        "tests/conftest.py",
        "docs/index.md",
    ):
        assert name in there
    assert {name.partition("/")[0] for name in there} == {
        "src", "tests", "docs", "notebooks", "benchmarks", "website",
        "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "CITATION.cff", "LICENSE",
        "Makefile", "constraints.txt", "constraints-oldest.txt", "pyproject.toml", "PKG-INFO", ".gitignore", ".github",
    }  # fmt: skip
    assert not [
        name for name in there if re.search(r"__pycache__|\.pyc|(^|/)\.(?!git(ignore|hub/))|^runs/", name)
    ]
    (again,) = build(tree, tmp_path / "dist", "wheel")
    assert content(again) == content(built.wheel)


def test_there_is_one_version() -> None:
    assert PYPROJECT["project"]["dynamic"] == ["version"]
    assert PYPROJECT["tool"]["hatch"]["version"]["path"] == "src/onechange/__init__.py"
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    assert re.findall(r"^version: (.+)$", citation, re.MULTILINE) == [onechange.__version__]
    assert f"\n## [{onechange.__version__}] - " in (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_the_citation_has_what_its_format_requires() -> None:
    yaml = pytest.importorskip("yaml")
    found = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= found.keys()  # CFF 1.2.0, "required"
    assert found["cff-version"] == "1.2.0" and found["type"] == "software"
    assert all({"name"} <= author.keys() for author in found["authors"])
    assert found["license"] == PYPROJECT["project"]["license"]


@pytest.mark.long
def test_it_runs_where_nothing_else_is_of_this_project(built: Built, tmp_path: Path) -> None:
    home, work = tmp_path / "environment", tmp_path / "work"
    work.mkdir()
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True)
    scripts = home / ("Scripts" if os.name == "nt" else "bin")
    python = scripts / Path(sys.executable).name
    site = subprocess.check_output(
        [str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], encoding="utf-8"
    )
    # What it needs is borrowed from here; an editable onechange is not: no .pth file of a borrowed folder is read.
    Path(site.strip(), "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "--python",
            str(python),
            "install",
            "--no-index",
            "--no-deps",
            built.wheel,
        ],
        check=True,
        capture_output=True,
    )
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment |= {"XDG_CACHE_HOME": str(tmp_path / "cache"), "OMP_NUM_THREADS": "1"}
    script = shutil.which("onechange", path=str(scripts))
    assert script

    def run(*words: str) -> str:
        done = subprocess.run(
            [script, *words], cwd=work, env=environment, capture_output=True, encoding="utf-8", timeout=500
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    told = json.loads(run("doctor", "--json"))
    assert Path(told["installed_in"].replace("~", str(Path.home()), 1)).is_relative_to(home)
    assert "huggingface-hub" in told["extras"]["hub"] and "torch" in told["packages"]
    assert "rope" in run("list", "position")
    assert "positions" in run("list", "studies")
    run("new", "mine.toml")
    results = json.loads(
        run("run", "mine.toml", "--data", "storyworld", "--scale", "tiny", "--json", "--out", "out")
    )
    assert all(arm["runs"][0]["status"] == "finished" for arm in results["arms"])
    (work / "out/report.html").unlink()
    run("report", "out")
    assert (work / "out/report.html").stat().st_size > 100_000
    (work / "consumer.py").write_text(CONSUMER, encoding="utf-8")
    checked = subprocess.run(
        [sys.executable, "-m", "pyright", "--pythonpath", str(python), "consumer.py"],
        cwd=work,
        capture_output=True,
        encoding="utf-8",
    ).stdout
    assert "1 error" in checked and 'dict[str, Path]" is not assignable to "int"' in checked, checked
