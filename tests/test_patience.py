"""Early stopping: when a history is over, and that a run so ended is whole, and the same after a kill."""

import json
from pathlib import Path

import pytest

from onechange.checkpoint import Checkpoints
from onechange.patience import exhausted
from onechange.record import collect
from onechange.study_folder import StudyFolder
from small_studies import STUDY, files, in_haste, onechange, study_file


@pytest.mark.parametrize(
    ("losses", "patience", "over"),
    [
        ([3, 2, 1], 1, False),
        ([3, 2, 2], 1, True),  # an equal one is no new lowest
        ([3, 2, 2.5], 2, False),
        ([3, 2, 2.5, 2.1], 2, True),
        ([3, 2, 2.5, 1.9, 2], 2, False),
        ([3, 4, 5, 6], 0, False),
        ([], 1, False),
    ],
)
def test_when_a_history_is_over(losses: list[float], patience: int, over: bool):
    rows = [{"step": 10 * number, "validation_loss": loss} for number, loss in enumerate(losses, 1)]
    assert exhausted(rows, patience) is over


HASTY = STUDY.replace(
    "budget = { steps = 6 }",
    "budget = { steps = 60 }\npatience = 2\noptimizer = { learning_rate = 0.3 }",
)


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("patience")
    with in_haste(folder / "cache"):
        assert (
            onechange("run", study_file(folder, HASTY), "--scale", "tiny", "--out", folder / "out").status
            == 0
        )
    return folder


def test_a_run_ends_after_the_evaluations_that_bring_nothing_new(ended: Path):
    results = collect(StudyFolder(ended / "out"))
    early = [run for arm in results["arms"] for run in arm["runs"] if run["stopped_early"]]
    assert early and results["status"] == "finished"
    for run in early:
        losses = [row["validation_loss"] for row in run["history"]]
        assert min(losses) == losses[-3] and run["steps"] == run["history"][-1]["step"] < 60
        assert (run["best"]["step"], run["last"]["step"]) == (run["history"][-3]["step"], run["steps"])
    for arm in results["arms"]:
        for run in arm["runs"]:
            folder = StudyFolder(ended / "out").run(arm["name"], run["seed"])
            kept = Checkpoints(folder)
            assert kept.steps() == sorted({run["best"]["step"], run["last"]["step"]}, reverse=True)


def test_a_run_that_was_killed_after_its_last_evaluation_trains_no_further(ended: Path, tmp_path: Path):
    """What a kill between the last checkpoint and the measures leaves: everything but the measures."""
    before = files(ended / "out")
    run = next(
        path.parent
        for path in sorted((ended / "out").glob("arms/*/seed-0/measures.json"))
        if json.loads((path.parent / "checkpoints/last.json").read_text())["step"] < 60
    )
    (run / "measures.json").unlink()
    with in_haste(ended / "cache"):
        words = [ended / "small.toml", "--scale", "tiny", "--out", ended / "out", "--resume"]
        assert onechange("run", *words).status == 0
    assert files(ended / "out") == before
