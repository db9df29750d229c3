"""What is judged together is corrected together, and levels and differences are those of the runs themselves."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from onechange import judging
from onechange.compare import Scores
from onechange.record import collect
from scored_studies import write

CHARACTERS = np.full(60, 500)


def arm(level: float, number: int, seeds: int = 4) -> list[Scores]:
    draw = np.random.default_rng(number)
    return [
        Scores((level + draw.normal(0, 0.01) + draw.normal(0, 0.02, 60)) * CHARACTERS, CHARACTERS)
        for _ in range(seeds)
    ]


@pytest.fixture
def results(tmp_path: Path) -> dict[str, Any]:
    levels = {"base": 1.0, "clear": 0.9, "near": 0.987, "none": 1.0}
    arms = {name: arm(level, number) for number, (name, level) in enumerate(levels.items())}
    return collect(write(tmp_path, arms, star=True))


def test_the_changes_of_a_study_are_corrected_for_each_other(results: dict[str, Any]):
    """Holm by hand: the smallest p counts threefold, the next twofold, the largest once, never below the one before."""
    versus = {found["name"]: found["versus_parent"] for found in results["arms"][1:]}
    assert results["judged_changes"] == 3
    ordered = sorted(versus.values(), key=lambda found: found["p"])
    expected = 0.0
    for times, found in zip((3, 2, 1), ordered, strict=True):
        expected = max(expected, min(1.0, times * found["p"]))
        assert found["holm"]["p"] == pytest.approx(expected) and found["holm"]["changes"] == 3
        assert found["holm"]["verdict"] == (found["verdict"] if expected < 0.05 else "no difference seen")
    assert versus["clear"]["holm"]["verdict"] == "better"
    # The made-up study has a change that is seen alone and lost in company: else nothing would be tested here.
    assert (versus["near"]["verdict"], versus["near"]["holm"]["verdict"]) == ("better", "no difference seen")


def test_levels_over_seeds_are_means_and_standard_deviations(results: dict[str, Any]):
    for number, found in enumerate(results["arms"]):
        figures = [scores.nats.sum() / scores.characters.sum() for scores in arm(1.0, number)]
        shift = found["over_seeds"]["best"]["mean"] - np.mean(figures)
        assert found["over_seeds"]["best"]["spread"] == pytest.approx(np.std(figures, ddof=1))
        assert shift == pytest.approx((0.0, -0.1, -0.013, 0.0)[number], abs=1e-9)
        assert found["over_seeds"].keys() == {"best", "last"}


def test_only_seeds_that_both_have_finished_are_compared():
    kept: dict[str, judging.Kept] = {
        "base": {seed: {("best", "validation"): scores} for seed, scores in enumerate(arm(1.0, 0, 5))},
        "new": {
            seed: {("best", "validation"): scores} for seed, scores in enumerate(arm(0.9, 1, 5)) if seed != 3
        },
    }
    arms = [{"name": "base", "from": None}, {"name": "new", "from": "base"}]
    found = judging.changes(arms, kept, timed=False)
    assert found["base"] == {"versus_parent": None, "versus_parent_last": None}
    assert [pair["seed"] for pair in found["new"]["versus_parent"]["seed_differences"]] == [0, 1, 2, 4]
    assert found["new"]["versus_parent_last"] is None
