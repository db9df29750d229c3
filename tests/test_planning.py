"""`onechange plan`: seeds that a resolution needs, for studies whose spread over seeds and text is known."""

import numpy as np
import pytest

from onechange import power
from onechange.compare import Scores
from onechange.outlook import outlook
from scored_studies import write
from small_studies import onechange

CHARACTERS = np.full(40, 500)


def arm(level: float, seeds: int, spread: float, text: float, number: int = 0) -> list[Scores]:
    """Runs whose figures over the seeds have exactly this standard deviation, and over stories too."""
    stories = np.random.default_rng(number).normal(size=len(CHARACTERS))
    stories = text * (stories - stories.mean()) / stories.std(ddof=1)
    over_seeds = np.linspace(-1, 1, seeds) if seeds > 1 else np.zeros(1)
    if seeds > 1:
        over_seeds = spread * over_seeds / over_seeds.std(ddof=1)
    return [Scores((level + offset + stories) * CHARACTERS, CHARACTERS) for offset in over_seeds]


def changes(folder, *words):
    outcome = onechange("plan", folder, *words, "--json")
    assert outcome.status == 0, outcome
    return {change["arm"]: change for change in outcome.document["changes"]}


def test_figures_are_those_of_the_known_spread(tmp_path):
    write(tmp_path, {"a": arm(1.0, 5, 0.0, 0.0), "b": arm(0.9, 5, 0.02, 0.03)})
    found = changes(tmp_path)["b"]
    text = 0.03 / np.sqrt(40)
    assert found["nats_per_character_difference"] == pytest.approx(-0.1)
    assert (found["parent"], found["seeds"], found["verdict"]) == ("a", 5, "better")
    assert found["spread"] == pytest.approx(0.02) and found["text_error"] == pytest.approx(text)
    assert found["noise_floor"] == pytest.approx(0.02)  # √(0² + 0.02²)
    assert found["text_share"] == pytest.approx(text**2 / (text**2 + 0.02**2 / 5))
    assert found["resolution"] == pytest.approx(power.resolution(0.02, text, 5))
    # χ²(4) at 2.5% and 97.5% is 0.4844 and 11.143.
    assert found["spread_low"] == pytest.approx(0.02 * np.sqrt(4 / 11.1433), rel=1e-4)
    assert found["spread_high"] == pytest.approx(0.02 * np.sqrt(4 / 0.484419), rel=1e-4)
    assert found["finest"] == pytest.approx(2.801585 * text, rel=1e-5)
    assert found["text_forbids"] and found["seeds_needed"] is None


def test_so_many_seeds_find_the_wanted_difference(tmp_path):
    write(tmp_path, {"a": arm(1.0, 4, 0.0, 0.0), "b": arm(0.9, 4, 0.02, 0.0)})
    found = changes(tmp_path, "--resolution", "0.01")["b"]
    assert found["seeds_needed"] == 34  # half a standard deviation
    assert found["seeds_needed_low"] < 34 < found["seeds_needed_high"]
    assert not found["text_forbids"] and found["text_share"] == pytest.approx(0, abs=1e-12)
    coarser = changes(tmp_path, "--resolution", "0.04")["b"]
    assert coarser["seeds_needed"] < 10


def test_one_seed_has_no_spread_and_the_page_says_so(tmp_path):
    write(tmp_path, {"a": arm(1.0, 1, 0.0, 0.0), "b": arm(0.9, 1, 0.0, 0.01)})
    found = changes(tmp_path, "--resolution", "0.01")["b"]
    assert [found[key] for key in ("spread", "noise_floor", "resolution", "seeds_needed")] == [None] * 4
    assert found["finest"] == pytest.approx(2.801585 * 0.01 / np.sqrt(40), rel=1e-5)
    outcome = onechange("plan", tmp_path)
    assert outcome.status == 0 and "b: a spread needs two seeds" in " ".join(outcome.out.split())


def test_two_seeds_are_a_rough_guess(tmp_path):
    write(tmp_path, {"a": arm(1.0, 2, 0.0, 0.0), "b": arm(0.9, 2, 0.001, 0.0)})
    found = changes(tmp_path)["b"]
    assert found["resolution"] is None and found["verdict"] == "one seed: not judged"
    assert found["seeds_needed"] is not None
    assert found["seeds_needed_high"] > 20 * found["seeds_needed_low"]
    assert "b: from two seeds the spread is a very rough guess" in " ".join(
        onechange("plan", tmp_path).out.split()
    )


def test_a_text_that_is_too_short_is_told(tmp_path):
    write(tmp_path, {"a": arm(1.0, 3, 0.0, 0.0), "b": arm(0.9, 3, 0.001, 0.1)})
    said = " ".join(onechange("plan", tmp_path, "--resolution", "0.02").out.split())
    assert "b: the text alone forbids 0.02. With 40 validation stories" in said
    assert (
        "no number of seeds finds less than 0.044; it takes about 4.9 times" in said
    )  # 2.8016 · 0.1 / √40 = 0.0443


def test_a_single_story_leaves_only_the_seeds(tmp_path):
    runs = [
        [Scores(np.array([level]), np.array([10])) for level in levels] for levels in ((10, 10), (9, 9.2))
    ]
    write(tmp_path, {"a": runs[0], "b": runs[1]})
    found = changes(tmp_path)["b"]
    assert found["text_error"] is None and found["finest"] is None and not found["text_forbids"]


@pytest.mark.parametrize("wanted", ["0", "-0.1", "nan", "inf"])
def test_a_resolution_that_is_none(tmp_path, wanted):
    outcome = onechange("plan", tmp_path, "--resolution", wanted)
    assert outcome.status == 2 and "must be a number above 0" in outcome.err


def test_a_folder_without_a_change(tmp_path):
    assert "holds no study" in onechange("plan", tmp_path / "nowhere").err
    write(tmp_path, {"a": arm(1.0, 3, 0.01, 0.01)})
    outcome = onechange("plan", tmp_path)
    assert outcome.status == 2 and "no change yet" in outcome.err


def test_with_a_test_text_it_plans_by_what_judges():
    arm = {
        "name": "arm",
        "from": "base",
        "versus_parent": {"seeds": 3, "spread": 0.9, "text_error": 0.9},
        "versus_parent_test": {"seeds": 3, "spread": 0.003, "text_error": 0.001},
    }
    found = outlook(arm, 0.01)
    assert (found.spread, found.text_error, found.text_forbids) == (0.003, 0.001, False)
    assert outlook({**arm, "versus_parent_test": None}, 0.01).spread == 0.9
