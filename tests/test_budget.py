"""A budget becomes steps before training: by hand counts, and by what the runs' own histories say they did."""

import json
from pathlib import Path

import pytest

from onechange import budget, study_file
from onechange.family import resolve
from onechange.plan import Means, Plan
from onechange.record import collect
from onechange.study_folder import StudyFolder
from small_studies import STUDY, in_haste, onechange
from small_studies import study_file as written

PER = {"tokens": 64, "characters_per_token": 2.5, "operations_per_token": 1e6, "seconds_per_step": 0.5}


@pytest.mark.parametrize(
    ("given", "steps"),
    [
        ({"steps": 7}, 7),
        ({"tokens": 640}, 10),
        ({"tokens": 670}, 10),
        ({"tokens": 673}, 11),
        ({"characters": 1600}, 10),
        ({"operations": 3.2e8}, 5),
        ({"seconds": 4.9}, 10),
        ({"tokens": 1}, 1),
    ],
)
def test_the_nearest_number_of_steps(given, steps):
    assert budget.steps(budget.checked(given), **PER) == steps


def plan(text: str, **other) -> Plan:
    found = study_file.parse(text.encode())
    source = {**resolve("corpus", found.corpus), "test": found.test_share(resolve("corpus", found.corpus))}
    return Plan(found, "tiny", source, [0], found.names("tiny"), Means(1, "float32", False), **other)


@pytest.mark.parametrize("kind", ["tokens", "characters", "operations"])
def test_arms_do_equally_much_of_what_the_budget_counts(kind: str, tmp_path: Path):
    """What the runs themselves counted, in their histories, differs by no more than a step and the windows' luck."""
    amount = {"tokens": 640, "characters": 1500, "operations": 6e6}[kind]
    content = STUDY.replace(
        "budget = { steps = 6 }", f"budget = {{ {kind} = {amount} }}\nprecision_ = 0"
    ).replace("precision_ = 0\n", "")
    with in_haste(tmp_path / "cache"):
        assert (
            onechange("run", written(tmp_path, content), "--scale", "tiny", "--out", tmp_path / "out").status
            == 0
        )
    results = collect(StudyFolder(tmp_path / "out"))
    for arm in results["arms"]:
        last = arm["runs"][0]["history"][-1]
        assert last["step"] == arm["steps"] > 1
        step = last[kind] / last["step"]
        room = step / 2 + (
            0.15 * amount if kind == "characters" else 0
        )  # four short windows hold what they hold
        assert abs(last[kind] - amount) <= room, (arm["name"], last[kind])


def test_a_window_in_characters_is_as_much_text_for_every_arm():
    found = plan(STUDY.replace("window = 16", "window = { characters = 40 }"))
    assert found.settings("plain")["window"] == 40
    merged = found.facts("merged")
    assert merged["window"] < 40
    assert abs(merged["characters_per_window"] - 40) <= merged["characters_per_token"] / 2
    assert found.settings("turned")["window"] == merged["window"]


def test_a_window_in_characters_that_is_the_parents_changes_nothing():
    arm = '\n[[arm]]\nname = "same"\nfrom = "plain"\nchange.window = { characters = 16 }\n'
    with pytest.raises(
        ValueError, match=r"arm 'same': change\.window changes nothing: 'plain' has 16 tokens too"
    ):
        plan(STUDY + arm).check()
    plan(STUDY + arm.replace("16", "17")).check()


@pytest.mark.long
def test_seconds_are_timed_once_and_kept(tmp_path: Path):
    content = STUDY.replace("budget = { steps = 6 }", "budget = { seconds = 0.2 }")
    words = [written(tmp_path, content), "--scale", "tiny", "--out", tmp_path / "out"]
    with in_haste(tmp_path / "cache"):
        assert onechange("run", *words, "--arm", "plain").status == 0
        start = json.loads((tmp_path / "out/start.json").read_text())
        assert start["seconds_per_step"].keys() == {"plain", "merged", "turned"}
        assert onechange("run", *words, "--resume", "--seeds", "3").status == 0
    results = collect(StudyFolder(tmp_path / "out"))
    for arm in results["arms"]:
        assert arm["steps"] == max(1, round(0.2 / start["seconds_per_step"][arm["name"]]))
        assert {run["steps"] for run in arm["runs"]} == {arm["steps"]}
        for key in ("versus_parent", "versus_parent_last"):
            if arm["from"]:
                assert arm[key]["seeds"] == 3 and arm[key]["low"] is not None
                assert (arm[key]["verdict"], arm[key]["holm"]) == ("budget in seconds: not judged", None)
    assert results["judged_changes"] == 0


def test_seconds_without_a_time_are_refused():
    with pytest.raises(ValueError, match="needs the seconds of a step"):
        plan(STUDY.replace("budget = { steps = 6 }", "budget = { seconds = 5 }")).steps("plain")
