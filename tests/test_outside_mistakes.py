"""What is wrong with a file that a study names, or with how it is named: one line, and nothing is left behind."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from onechange import family, study_file
from own_members import ARMS, NORM, as_in_a_new_process, marking, refused, run, written


@pytest.fixture(autouse=True)
def new_process(tmp_path: Path) -> Iterator[None]:
    as_in_a_new_process()
    with marking(tmp_path):
        yield
    as_in_a_new_process()


WRONG = {
    "": "holds no member of norm: derive one class from onechange.norm.Norm",
    NORM.replace("(Norm)", "(nn.Module)"): "holds no member of norm",
    NORM.replace("@final", ""): "Mine must be marked @final",
    NORM + "\n\n@final\nclass Second(Norm):\n    pass\n": "holds 2 members of norm (Mine, Second)",
    NORM.replace("def forward", "def forwards"): "Mine lacks what a member of norm must have: forward",
    NORM.replace("epsilon: float", "epsilon"): "the setting 'epsilon' has no type",
    NORM.replace("epsilon: float = 0.5", "name: str = 'x'"): "a setting cannot be called 'name'",
    NORM.replace("= 0.5", "= torch"): "the setting 'epsilon' has the default <module",
    NORM.replace("epsilon: float", "epsilon: 'Flaot'"): "cannot be read: NameError",
    NORM.replace("import torch\n", "import torhc\n"): "line 9: ModuleNotFoundError: No module named 'torhc'",
    "x = (\n": "line 1: '(' was never closed",
    "x = 1\n\nraise SystemExit(3)\n": "line 3: SystemExit: 3",
    "x = 1\nx / 0\n": "line 2: ZeroDivisionError: division by zero",
    "raise ValueError('two\\nlines')\n": "line 1: ValueError: two lines",
    "x = '\0'\n": "null bytes",
}


@pytest.mark.parametrize(("norm", "message"), WRONG.items(), ids=WRONG.values())
def test_what_is_wrong_in_a_file_is_one_line_that_names_it(tmp_path: Path, norm: str, message: str):
    study = written(tmp_path, norm)
    refused(run(study, tmp_path / "out", "--dry-run"), study, tmp_path / "parts/mine.py", message)
    assert not (tmp_path / "out").exists() and not family.is_here("norm", "mine.py")


def test_a_file_that_is_not_there_or_not_text(tmp_path: Path):
    study = written(tmp_path)
    (tmp_path / "parts/mine.py").write_bytes(b"\xff")
    refused(run(study, tmp_path / "out"), tmp_path / "parts/mine.py", "not UTF-8: bad byte at offset 0")
    (tmp_path / "parts/mine.py").unlink()
    refused(run(study, tmp_path / "out"), f"norm 'mine.py': no such file: {tmp_path / 'parts/mine.py'}")


def test_two_files_of_one_name_are_refused(tmp_path: Path):
    study = written(tmp_path, arms=ARMS + '\n[[arm]]\nname = "b"\nfrom = "mine"\nchange.norm = "mine.py"\n')
    (tmp_path / "mine.py").write_text(NORM)
    refused(run(study, tmp_path / "out"), tmp_path / "mine.py", tmp_path / "parts/mine.py", "different names")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            '{ name = "parts/mine.py", epsilom = 1.0 }',
            "norm 'mine.py': no setting 'epsilom'; its settings are",
        ),
        ('{ name = "parts/mine.py", epsilon = "x" }', "norm.epsilon = 'x': must be a number"),
        ('".py"', "must be the name of a Python file"),
    ],
)
def test_what_is_wrong_in_the_study_is_told_as_of_members_inside(tmp_path: Path, change: str, message: str):
    study = written(tmp_path, arms=ARMS.replace('"parts/mine.py"', change))
    (tmp_path / ".py").write_text(NORM)
    refused(run(study, tmp_path / "out", "--dry-run"), message)


def test_a_path_may_be_absolute_and_members_may_be_varied(tmp_path: Path):
    (tmp_path / "far").mkdir()
    (tmp_path / "far/other.py").write_text(NORM.replace("0.5", "0.25"))
    arms = f'\n[[arm]]\nname = "n"\nfrom = "plain"\nvary.norm = ["layer", "{tmp_path}/far/other.py", "mine.py"]\n'
    study = written(tmp_path, arms=arms)
    (tmp_path / "mine.py").write_text(NORM)
    found = study_file.load(study)
    assert found.arm_names == ["plain", "n-layer", "n-other.py", "n-mine.py"]
    assert found.settings("n-other.py", "tiny")["norm"] == {"name": "other.py", "epsilon": 0.25}
    assert found.settings("n-mine.py", "tiny")["norm"] == {"name": "mine.py", "epsilon": 0.5}
