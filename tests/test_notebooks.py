"""The notebooks run from top to bottom, and are what a newcomer can read."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from prepared_folders import write_stories

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))
MOST_CELLS = 12
"""Cells of code: the library does the work."""


def cells(notebook: Path) -> list[dict[str, Any]]:
    return json.loads(notebook.read_text("utf-8"))["cells"]


def code(notebook: Path) -> list[str]:
    return ["".join(cell["source"]) for cell in cells(notebook) if cell["cell_type"] == "code"]


def with_few_stories(notebook: Path, folder: Path) -> Path:
    """A copy that learns from a short text beside it: the whole corpus takes the most of the time."""
    write_stories(folder / "stories.txt", 0)
    content = json.loads(notebook.read_text("utf-8"))
    settings = next(cell["metadata"] for cell in content["cells"] if "nbmake" in cell["metadata"])
    settings["nbmake"]["mock"]["DATA"] = "file:stories.txt"
    (folder / notebook.name).write_text(json.dumps(content), "utf-8")
    return folder / notebook.name


def test_there_is_one_for_every_step_of_the_way_and_one_for_a_component():
    assert [path.stem for path in NOTEBOOKS] == ["1-characters", "2-bpe", "3-rope", "4-your-own-component"]


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs_at_the_scale_tiny(notebook: Path, tmp_path: Path):
    copied = with_few_stories(notebook, tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-c", os.devnull,
         "--nbmake", "--nbmake-timeout=600", "--overwrite", copied],
        cwd=tmp_path,
        env={**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:]
    outputs = [output for cell in cells(tmp_path / notebook.name) for output in cell.get("outputs", [])]
    shown = [kind for output in outputs for kind in output.get("data", {})]
    assert "text/html" in shown, "tables are shown"
    assert "image/svg+xml" in shown, "figures are inline"
    results = [*tmp_path.glob("runs/tiny-*/results.json")]
    assert len(results) == 1 and json.loads(results[0].read_text("utf-8"))["scale"] == "tiny"


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_installs_first_and_is_short(notebook: Path):
    first, settings, *rest = code(notebook)
    assert "%pip install --quiet" in first and "find_spec" in first
    assert settings.startswith('SCALE = "quick"') and 'DATA = "storyworld"' in settings
    assert len(rest) + 2 <= MOST_CELLS
    for source in rest:
        assert len(source.splitlines()) <= 12 or source.startswith("%%writefile"), source


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_what_it_shows_on_the_forge_is_of_a_whole_run_without_paths_of_one_machine(notebook: Path):
    """Outputs are kept from the scale `quick`: every cell ran once, in order, and none failed."""
    made = [cell for cell in cells(notebook) if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in made] == [*range(1, len(made) + 1)]
    assert not [output for cell in made for output in cell["outputs"] if output["output_type"] == "error"]
    text = notebook.read_text("utf-8")
    assert "/home/" not in text and "/work" not in text and "/tmp" not in text
