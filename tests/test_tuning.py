"""Fair tuning: chosen on validation text, judged on test text, and nothing of the test text decides anything."""

import json
from itertools import chain
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pytest
from scipy import stats

from onechange import study_file
from onechange.documents import prepare
from onechange.family import resolve
from small_studies import STUDY, Outcome, files, in_haste, onechange
from small_studies import study_file as written

TUNED = "tune.optimizer.learning_rate = [0.001, 0.02]\n" + STUDY
ARMS = ("--arm", "plain", "--arm", "merged")
SEEDS = 3


@pytest.fixture(scope="module")
def tuned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tuning")
    words = [written(folder, TUNED), "--scale", "tiny", "--out", folder / "out", "--seeds", SEEDS, *ARMS]
    with in_haste(folder / "cache"):
        assert onechange("run", *words).status == 0
    return folder / "out"


@pytest.fixture(scope="module")
def results(tuned: Path) -> dict[str, Any]:
    return json.loads((tuned / "results.json").read_text())


def ratio(out: Path, name: str, seed: int, which: str, text: str) -> float:
    measured = json.loads((out / f"arms/{name}/seed-{seed}/measures.json").read_text())[which]
    stories = (measured if text == "validation" else measured["test"])["stories"]
    return sum(stories["nats"]) / sum(stories["characters"])


def test_every_arm_is_run_at_every_value_its_own_included(tuned: Path, results: dict[str, Any]):
    names = [
        f"{arm}{tail}"
        for arm in ("merged", "plain")
        for tail in ("", ".learning_rate-0.001", ".learning_rate-0.02")
    ]
    assert sorted(path.parent.name for path in tuned.glob("arms/*/seed-2")) == sorted(names)
    assert [arm["name"] for arm in results["arms"]] == ["plain", "merged"]
    assert results["tuning"]["setting"] == "optimizer.learning_rate"
    for arm in results["tuning"]["arms"]:
        assert [found["value"] for found in arm["candidates"]] == [0.001, 0.005, 0.02] and arm["own"] == 0.005


def test_the_value_is_chosen_on_validation_text_alone(tuned: Path, results: dict[str, Any]):
    for arm in results["tuning"]["arms"]:
        means = {}
        for found in arm["candidates"]:
            ratios = [ratio(tuned, found["name"], seed, "best", "validation") for seed in range(SEEDS)]
            means[found["value"]] = fmean(ratios)
            assert found["validation"] == pytest.approx(means[found["value"]])
            assert found["spread"] == pytest.approx(np.std(ratios, ddof=1))
            on_test = fmean(ratio(tuned, found["name"], seed, "best", "test") for seed in range(SEEDS))
            assert found["test"] == pytest.approx(on_test) and abs(on_test - found["validation"]) > 1e-6
        assert arm["chosen"] == min(means, key=lambda value: means[value])


def test_both_verdicts_are_on_test_text(tuned: Path, results: dict[str, Any]):
    plain, merged = results["tuning"]["arms"]
    assert plain["equal"] is None and plain["tuned"] is None
    names = {
        "equal": ("merged", "plain"),
        "tuned": tuple(
            next(found["name"] for found in arm["candidates"] if found["value"] == arm["chosen"])
            for arm in (merged, plain)
        ),
    }
    assert names["tuned"] != names["equal"], "the study is made so that tuning changes something"
    for key, (arm, parent) in names.items():
        each = [
            ratio(tuned, arm, seed, "best", "test") - ratio(tuned, parent, seed, "best", "test")
            for seed in range(SEEDS)
        ]
        assert merged[key]["nats_per_character_difference"] == pytest.approx(fmean(each))
        assert [found["difference"] for found in merged[key]["seed_differences"]] == pytest.approx(each)
        alone = stats.ttest_1samp(each, 0).confidence_interval(0.95)  # the text's part only widens it
        assert merged[key]["low"] < alone.low and merged[key]["high"] > alone.high
        assert merged[key]["holm"]["changes"] == 1
    versus = results["arms"][1]
    assert versus["versus_parent_test"] == merged["equal"] != versus["versus_parent"]


def test_what_choosing_on_validation_text_cost(tuned: Path, results: dict[str, Any]):
    for arm in results["arms"]:
        for run in arm["runs"]:
            figures = {
                (which, text): ratio(tuned, arm["name"], run["seed"], which, text)
                for which in ("best", "last")
                for text in ("validation", "test")
            }
            gained = {text: figures["last", text] - figures["best", text] for text in ("validation", "test")}
            assert run["choosing"]["gained_on_validation"] == pytest.approx(gained["validation"], abs=1e-12)
            assert run["choosing"]["gained_on_test"] == pytest.approx(gained["test"], abs=1e-12)
            assert run["choosing"]["cost"] == pytest.approx(gained["validation"] - gained["test"], abs=1e-12)


def test_until_all_values_have_the_same_seeds_nothing_is_chosen(tuned: Path):
    path = tuned / "arms/merged.learning_rate-0.02/seed-1/measures.json"
    held = path.read_bytes()
    path.unlink()
    try:
        found = report(tuned).document["tuning"]["arms"][1]
        assert (found["chosen"], found["tuned"]) == (None, None)
        assert [candidate["seeds"] for candidate in found["candidates"]] == [3, 3, 2]
        assert found["equal"]["verdict"] in ("better", "worse", "no difference seen")
    finally:
        path.write_bytes(held)


def report(out: Path) -> Outcome:
    with in_haste(out.parent / "cache"):
        return onechange("report", out, "--json")


def test_what_is_put_aside_decides_nothing(tmp_path: Path):
    """With other test stories of the same alphabet everything but the test's own figures is the same, byte for byte."""
    told: list[dict[str, bytes]] = []
    corpus = prepare(
        {**resolve("corpus", {"name": "storyworld", "characters": 40_000}), "test": 0.1}, cache=None
    )
    stories = [*chain(corpus.training, corpus.validation)][:50]
    for name, turned in (("one", False), ("other", True)):
        text = tmp_path / f"{name}.txt"
        aside = [story[::-1] if turned else story for story in corpus.test[:5]]
        whole = [aside[number // 10] if number % 10 == 8 else story for number, story in enumerate(stories)]
        text.write_text("\n<|endoftext|>\n".join(whole), encoding="utf-8")
        content = TUNED.replace('corpus = { name = "storyworld", characters = 40000 }', "")
        with in_haste(tmp_path / "cache"):
            words = [
                written(tmp_path, content),
                "--scale",
                "tiny",
                "--out",
                tmp_path / name,
                "--data",
                f"file:{text}",
            ]
            outcome = onechange("run", *words, *ARMS)
            assert outcome.status == 0, outcome.err
        kept = files(tmp_path / name)
        for path in [path for path in kept if path.endswith(("recipe.toml", "start.json", "corpus.json"))]:
            del kept[path]
        for path in [path for path in kept if path.endswith("measures.json")]:
            measured = json.loads(kept[path])
            kept[path] = repr(
                [{k: v for k, v in measured[w].items() if k != "test"} for w in measured]
            ).encode()
            told.append({path: repr(measured["best"]["test"]).encode()})
        told.append(kept)
    half = len(told) // 2
    assert told[half - 1] == told[-1]
    assert all(one != other for one, other in zip(told[: half - 1], told[half:-1], strict=True))


def test_an_arm_that_has_no_such_setting_is_named():
    content = STUDY.replace(
        "[[arm]]", '[[arm]]\nname = "turned-first"\nfrom = "plain"\nchange.position = "rope"\n\n[[arm]]', 1
    )
    study = study_file.parse(f"tune.position.theta = [500, 1000]\n{content}".encode())
    with pytest.raises(ValueError, match=r"tune\.position\.theta: position 'learned' has no setting 'theta'"):
        study.run_names("tiny")


@pytest.mark.parametrize(
    ("arm", "message"),
    [
        (
            'name = "faster"\nfrom = "plain"\nchange.optimizer = { learning_rate = 0.1 }',
            "which is tuned: one of the two",
        ),
        (
            'name = "plain.learning_rate-0.02"\nfrom = "plain"\nchange.position = "rope"',
            "tuning makes an arm of this name",
        ),
    ],
)
def test_an_arm_that_stands_in_the_way_of_tuning(arm: str, message: str):
    with pytest.raises(ValueError, match=message):
        study_file.parse(f"{TUNED}\n[[arm]]\n{arm}\n".encode())
