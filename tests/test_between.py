"""Comparing runs of any studies: folders made by hand, figures by scipy, every law broken once, every refusal once."""

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from onechange import family
from onechange.between import Between, Comparison, compare
from onechange.laws_between import Law
from onechange.recipe import Recipe
from onechange.settings import DEFAULTS
from small_studies import Outcome, in_haste, onechange, study_file

CHARACTERS = (100, 300, 600)


def recipe(seed: int, **changed: Any) -> Recipe:
    """A small recipe; families that are given are resolved as in a study."""
    settings: dict[str, Any] = {
        "corpus": {"name": "storyworld", "characters": 40_000},
        "corpus_fingerprint": "a" * 64,
        **dict.fromkeys(("layers", "heads"), 1),
        "width": 16,
        "window": 16,
        "dropout": 0.0,
        "batch": 4,
        "micro_batch": 0,
        "activations": "keep",
        "steps": 6,
        "evaluate_every": 3,
        "clip": 1.0,
        "precision": "float32",
        "compile": False,
        "threads": 1,
        "device": "cpu",
        "tokenizer": "character",
        **{kind: DEFAULTS[kind] for kind in (*family.MODEL_FAMILIES, *family.TRAINING_FAMILIES)},
        **changed,
    }
    for name in family.FAMILIES:
        settings[name] = family.resolve(name, settings[name])
    return Recipe(seed=seed, **settings)


@dataclass
class Bench:
    """Where folders of runs are made."""

    folder: Path

    def run(
        self,
        arm: str,
        seed: int,
        ratio: float,
        *,
        characters: Sequence[int] = CHARACTERS,
        environment: dict[str, Any] | None = None,
        **changed: Any,
    ) -> Path:
        """A finished run that needs ``ratio`` nats for every character of every story; +1 at its last checkpoint."""
        made = recipe(seed, **changed)
        path = self.folder / "study" / "arms" / arm / f"seed-{seed}"
        (path / "checkpoints").mkdir(parents=True)
        for which in ("best", "last"):
            (path / "checkpoints" / f"{which}.json").write_text("{}")
        (path / "recipe.toml").write_text(made.to_toml())
        held = {
            "machine": {"processor": "abacus"},
            "versions": {"onechange": "0.1.0", "torch": "2.13.0", "numpy": "2.4.6"},
            "device": "cpu",
            "processes": 1,
            "threads": made.threads,
            "compile": False,
            "components": made.versions,
            **(environment or {}),
        }
        (path / "environment.json").write_text(json.dumps(held))
        (path / "timing.jsonl").write_text(
            json.dumps({"step": 6, "seconds": 1.0, "peak_memory_bytes": None, "left_out": 0}) + "\n"
        )
        measures = {"best": figures(ratio, characters), "last": figures(ratio + 1, characters)}
        (path / "measures.json").write_text(json.dumps(measures))
        return path

    def arm(self, name: str, ratios: Sequence[float], **changed: Any) -> Path:
        """An arm with seeds 0, 1, …"""
        for seed, ratio in enumerate(ratios[1:], 1):
            self.run(name, seed, ratio, **changed)
        return self.run(name, 0, ratios[0], **changed).parent


def figures(ratio: float, characters: Sequence[int]) -> dict[str, Any]:
    nats = [ratio * n for n in characters]
    return {
        "step": 6,
        "nats": sum(nats),
        "tokens": sum(characters),
        "characters": sum(characters),
        "bytes": sum(characters),
        "nats_per_token": ratio,
        "nats_per_character": sum(nats) / sum(characters),
        "bits_per_byte": ratio / math.log(2),
        "stories": {"nats": nats, "characters": list(characters), "bytes": list(characters)},
    }


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def edit(path: Path, change: Any) -> None:
    """Change the JSON object in a file."""
    content = json.loads(path.read_text(encoding="utf-8"))
    change(content)
    path.write_text(json.dumps(content), encoding="utf-8")


def only(found: Between) -> Comparison:
    assert len(found.comparisons) == 1
    return found.comparisons[0]


def law(found: Between, number: int) -> Law:
    told = only(found).laws[number - 1]
    assert told.number == number
    return told


def refused(outcome: Outcome, *named: object) -> None:
    assert (outcome.status, outcome.out, outcome.err.count("\n")) == (2, "", 1), outcome
    for word in named:
        assert str(word) in outcome.err


PARENT, CHILD = [1.10, 1.09, 1.11, 1.08], [1.05, 1.07, 1.04, 1.06]


def test_two_arms_are_a_paired_t_test(bench: Bench):
    """Where every story moves alike the text adds nothing: what is left is scipy's paired t over the seeds."""
    found = compare([bench.arm("a", PARENT), bench.arm("b", CHILD, position="rope")], "best")
    comparison = only(found)
    expected = stats.ttest_rel(CHILD, PARENT).confidence_interval(0.95)
    assert comparison.difference is not None
    assert comparison.difference.nats_per_character_difference == pytest.approx(-0.04)
    assert (comparison.difference.low, comparison.difference.high) == pytest.approx(
        (expected.low, expected.high)
    )
    assert (comparison.verdict, comparison.why, comparison.seeds) == ("better", None, [0, 1, 2, 3])
    assert [law.state for law in comparison.laws] == ["holds"] * 8
    assert [str(change) for change in comparison.changes] == [
        "position: learned → rope (theta = 10000.0, share = 1.0, pairs = 'consecutive')"
    ]
    assert [group.level.nats_per_character for group in found.groups] == pytest.approx([1.095, 1.055])


def test_the_first_named_is_the_one_that_the_others_are_compared_with(bench: Bench):
    a, b = bench.arm("a", PARENT), bench.arm("b", CHILD, position="rope")
    c = bench.arm("c", PARENT, dropout=0.1)
    found = compare([b, c, a], "last")
    assert [group.name for group in found.groups] == ["b", "c", "a"]
    assert [comparison.verdict for comparison in found.comparisons] == [None, "worse"]
    assert found.groups[0].level.nats_per_character == pytest.approx(2.055)


def test_runs_of_one_recipe_are_one_group_wherever_they_lie(bench: Bench):
    elsewhere = Bench(bench.folder / "elsewhere")
    one, two = bench.run("a", 0, 1.0), elsewhere.run("other", 1, 1.2)
    found = compare([two, one, one, bench.run("b", 0, 1.3, dropout=0.1)], "best")
    assert [(group.name, group.seeds) for group in found.groups] == [("other", [0, 1]), ("b", [0])]


def test_only_seeds_that_both_have_are_compared_and_that_is_said(bench: Bench):
    found = compare([bench.arm("a", PARENT), bench.arm("b", CHILD[:3], dropout=0.1)], "best")
    comparison = only(found)
    expected = stats.ttest_rel(CHILD[:3], PARENT[:3]).confidence_interval(0.95)
    assert comparison.difference is not None and comparison.difference.low == pytest.approx(expected.low)
    assert (comparison.seeds, found.groups[0].seeds) == ([0, 1, 2], [0, 1, 2, 3])
    shown = onechange("compare", bench.folder / "study/arms/a", bench.folder / "study/arms/b")
    assert "Compared over seeds 0, 1, 2, which both have." in " ".join(shown.out.split())


def test_without_a_common_seed_there_is_no_difference(bench: Bench):
    a = bench.arm("a", PARENT)
    b = bench.run("b", 7, 1.0, dropout=0.1)
    comparison = only(compare([a, b], "best"))
    assert (comparison.difference, comparison.verdict, comparison.seeds) == (None, None, [])
    states = {law.number: law.state for law in comparison.laws}
    assert {number for number, state in states.items() if state == "does not hold"} == {2, 3, 6}
    shown = " ".join(onechange("compare", a, b).out.split())
    assert "no difference is taken, no seed is in both (seed 7; seeds 0, 1, 2, 3)" in shown
    assert "1.095" in shown


# One law after the other is broken.


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        (
            {"width": 32, "optimizer": {"name": "adamw", "learning_rate": 0.002}},
            "2 things differ: width, optimizer.learning_rate",
        ),
        ({"steps": 12, "position": "rope"}, "2 things differ: position, steps"),
        ({"precision": "bf16", "clip": 2.0}, "2 things differ: clip, precision"),
        ({"threads": 2}, "nothing differs that would be a change (computed otherwise: threads: 1 → 2)"),
    ],
)
def test_law_1_more_or_less_than_one_change(bench: Bench, changed: dict[str, Any], named: str):
    found = compare([bench.arm("a", PARENT), bench.arm("b", CHILD, **changed)], "best")
    told = law(found, 1)
    order = {*told.reason.removeprefix("2 things differ: ").split(", ")}
    assert told.state == "does not hold"
    assert told.reason == named or order == {*named.removeprefix("2 things differ: ").split(", ")}
    comparison = only(found)
    assert comparison.verdict is None and comparison.why == f"law 1, one change: {told.reason}"
    assert comparison.difference is not None and comparison.difference.low is not None


def test_law_1_settings_of_one_member_are_one_thing(bench: Bench):
    changed = {"optimizer": {"name": "adamw", "learning_rate": 0.002, "weight_decay": 0.5}}
    comparison = only(compare([bench.arm("a", PARENT), bench.arm("b", CHILD, **changed)], "best"))
    (change,) = comparison.changes
    assert change.thing == "optimizer" and comparison.verdict == "better"
    assert [s.setting for s in change.settings] == ["optimizer.learning_rate", "optimizer.weight_decay"]


def test_law_1_a_member_of_another_version_is_a_change(bench: Bench):
    versions = {**recipe(0).versions, "mlp": 9}
    other = bench.arm("b", CHILD, environment={"components": versions})
    comparison = only(compare([bench.arm("a", PARENT), other], "best"))
    assert [str(change) for change in comparison.changes] == [
        f"mlp, version: {recipe(0).versions['mlp']} → 9"
    ]
    assert comparison.verdict == "better"


def test_law_1_is_not_known_without_versions(bench: Bench):
    a, b = bench.arm("a", PARENT), bench.arm("b", CHILD, dropout=0.1)
    for seed in range(4):
        edit(b / f"seed-{seed}" / "environment.json", lambda held: held.pop("components"))
    found = compare([a, b], "best")
    assert law(found, 1).state == "not known" and only(found).verdict is None
    assert [change.thing for change in only(found).changes] == ["dropout"]


def test_law_2_another_batch_or_window_says_what_still_holds(bench: Bench):
    found = compare([bench.arm("a", PARENT), bench.arm("b", CHILD, batch=8, window=32)], "best")
    assert law(found, 2).state == "holds"
    for words in ("4 rows and 8: the first 4 of every step", "how far a row reads from there differs"):
        assert words in law(found, 2).reason


@pytest.mark.parametrize(
    ("changed", "environment", "state", "words"),
    [
        ({"width": 32}, {}, "does not hold", "width is 16 and 32"),
        ({"layers": 2}, {}, "does not hold", "layers are 1 and 2"),
        ({}, {"versions": {"numpy": "9.9"}}, "not known", "numpy 2.4.6 and 9.9"),
    ],
)
def test_law_3_another_start(
    bench: Bench, changed: dict[str, Any], environment: dict[str, Any], state: str, words: str
):
    changed = changed or {"dropout": 0.1}
    found = compare(
        [bench.arm("a", PARENT), bench.arm("b", CHILD, environment=environment, **changed)], "best"
    )
    assert law(found, 3).state == state and words in law(found, 3).reason
    assert only(found).verdict == "better"


@pytest.mark.parametrize("key", ["nats", "characters", "nats_per_character"])
def test_law_4_figures_that_do_not_add_up(bench: Bench, key: str):
    a, b = bench.arm("a", PARENT), bench.arm("b", CHILD, dropout=0.1)
    edit(b / "seed-2/measures.json", lambda held: held["best"].update({key: held["best"][key] * 2}))
    found = compare([a, b], "best")
    assert law(found, 4).state == "does not hold" and "seed-2" in law(found, 4).reason
    assert only(found).verdict is None
    assert law(compare([a, b], "last"), 4).state == "holds"


def test_law_5_peeking(bench: Bench):
    peeking = {"tokenizer": {"name": "bpe", "learn_from": "all"}}
    found = compare([bench.arm("a", PARENT), bench.arm("b", CHILD, **peeking)], "best")
    assert law(found, 5).state == "does not hold" and "validation text" in law(found, 5).reason
    assert only(found).verdict == "better"


def test_law_6_two_seeds(bench: Bench):
    found = compare([bench.arm("a", PARENT[:2]), bench.arm("b", CHILD[:2], dropout=0.1)], "best")
    assert law(found, 6).state == "does not hold"
    assert "2 seeds in both (0 and 1), a verdict takes 3" in (only(found).why or "")
    assert only(found).verdict is None


def test_law_7_a_checkpoint_gone_an_update_left_out_another_machine(bench: Bench):
    a, b = bench.arm("a", PARENT), bench.arm("b", CHILD, dropout=0.1)
    assert law(compare([a, b], "best"), 7).state == "holds"
    edit(b / "seed-1/environment.json", lambda held: held.update(threads=4))
    assert "rounding only: threads 1 and 4" in law(compare([a, b], "best"), 7).reason
    (b / "seed-0/environment.json").unlink()
    assert law(compare([a, b], "best"), 7).state == "not known"
    (b / "seed-3/checkpoints/last.json").unlink()
    assert "seed-3 no longer holds" in law(compare([a, b], "best"), 7).reason
    edit(a / "seed-1/timing.jsonl", lambda held: held.update(left_out=2))
    (a / "seed-1/timing.jsonl").write_text((a / "seed-1/timing.jsonl").read_text() + "\n")
    told = law(compare([a, b], "best"), 7)
    assert told.state == "does not hold" and "the update of 2 steps" in told.reason


def test_law_8_what_is_not_recorded(bench: Bench):
    a = bench.arm("a", PARENT)
    c = bench.arm("c", CHILD, dropout=0.1, environment={"versions": {"onechange": "0.2.0"}})
    assert "onechange 0.1.0 and 0.2.0" in law(compare([a, c], "best"), 8).reason
    (c / "seed-1/environment.json").unlink()
    told = law(compare([a, c], "best"), 8)
    assert told.state == "does not hold" and f"{c / 'seed-1'} has no environment.json" in told.reason


# What cannot be compared.


def test_another_text_is_refused_with_what_differs(bench: Bench):
    a = bench.arm("a", PARENT)
    b = bench.run("b", 0, 1.0, corpus_fingerprint="b" * 64, corpus={"name": "storyworld", "characters": 9000})
    refused(onechange("compare", a, b), a / "seed-0", b, "aaaaaaaaaaaa", "bbbbbbbbbbbb", "40000 and 9000")
    c = bench.run("c", 0, 1.0, corpus_fingerprint="c" * 64)
    refused(onechange("compare", a, c), "settings of the corpus are the same")


@pytest.mark.parametrize(
    ("characters", "words"),
    [((100, 300), "3 stories and 2"), ((100, 301, 599), "story 2 has 300 characters and 301")],
)
def test_other_stories_are_refused(bench: Bench, characters: Sequence[int], words: str):
    a, b = bench.run("a", 0, 1.0), bench.run("b", 0, 1.0, dropout=0.1, characters=characters)
    refused(onechange("compare", a, b), a, b, words)


def test_bytes_tell_stories_apart_too(bench: Bench):
    a, b = bench.run("a", 0, 1.0), bench.run("b", 0, 1.0, dropout=0.1)
    edit(b / "measures.json", lambda held: held["best"]["stories"].update(bytes=[100, 302, 600]))
    refused(onechange("compare", a, b), "story 2 has 300 bytes and 302")


def test_what_is_no_finished_run_is_refused(bench: Bench):
    a, b = bench.run("a", 0, 1.0), bench.arm("b", [1.0, 1.0], dropout=0.1)
    refused(onechange("compare", a, bench.folder / "nothing"), bench.folder / "nothing", "no such folder")
    refused(onechange("compare", a, bench.folder / "study"), "neither a run nor an arm", "study/arms/ARM")
    (b / "seed-0/measures.json").unlink()
    refused(onechange("compare", a, b / "seed-0"), b / "seed-0", "is not finished", "--resume")
    half = onechange("compare", a, b)
    assert half.status == 0 and "b: not finished and left out: seed-0" in half.err
    (b / "seed-1/failure.json").write_text('{"error": "the loss was nan"}')
    refused(onechange("compare", a, b), b, "no finished run: seed-0 is not finished")
    refused(onechange("compare", a, b / "seed-1"), "has failed: the loss was nan")


def test_one_recipe_or_one_run_twice_is_refused(bench: Bench):
    a = bench.arm("a", PARENT[:2])
    refused(onechange("compare", a), "one recipe only, with seeds 0, 1")
    twin = bench.run("twin", 1, 1.0)
    refused(onechange("compare", a, twin), a / "seed-1", twin, "are the same run")


@pytest.mark.parametrize(
    ("file", "content", "words"),
    [
        ("recipe.toml", "format = 99\n", "recipe.toml"),
        ("measures.json", "{}", "measures.json is damaged"),
        ("measures.json", '{"best": NaN}', "measures.json is damaged"),
        ("environment.json", '{"machine": 3, "versions": {}}', "environment.json is damaged"),
        (
            "environment.json",
            '{"machine": {}, "versions": {}, "components": {"mlp": "x"}}',
            "environment.json",
        ),
        ("timing.jsonl", "[]\n", "timing.jsonl, line 1"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(bench: Bench, file: str, content: str, words: str):
    a, b = bench.run("a", 0, 1.0), bench.run("b", 0, 1.0, dropout=0.1)
    (b / file).write_text(content)
    refused(onechange("compare", a, b), words, b)


def test_stories_that_do_not_fit_each_other_are_damage(bench: Bench):
    a, b = bench.run("a", 0, 1.0), bench.run("b", 0, 1.0, dropout=0.1)
    edit(b / "measures.json", lambda held: held["best"]["stories"].update(bytes=[1]))
    refused(onechange("compare", a, b), b / "measures.json", "3 stories have nats and 1 bytes")


def test_a_link_that_leads_out_is_not_followed(bench: Bench, tmp_path: Path):
    a, b = bench.run("a", 0, 1.0), bench.run("b", 0, 1.0, dropout=0.1)
    outside = tmp_path / "outside.json"
    (b / "measures.json").rename(outside)
    (b / "measures.json").symlink_to(outside)
    refused(onechange("compare", a, b), "leads out of")


def test_another_format_is_refused_by_its_number(bench: Bench):
    a, b = bench.run("a", 0, 1.0), bench.run("b", 0, 1.0, dropout=0.1)
    text = (b / "recipe.toml").read_text()
    (b / "recipe.toml").write_text(text.replace(f"format = {Recipe.FORMAT}", "format = 1"))
    refused(onechange("compare", a, b), b, "format = 1")


# What is shown.


def test_the_document_says_all(bench: Bench):
    a, b = bench.arm("a", PARENT), bench.arm("b", CHILD, position="rope")
    document = onechange("compare", a, b, "--json").document
    assert document["groups"][1]["runs"][2]["nats_per_character"] == pytest.approx(CHILD[2])
    assert (document["stories"], document["characters"], document["judged_on"]) == (3, 1000, "validation")
    (comparison,) = document["comparisons"]
    assert comparison["verdict"] == "better" and comparison["with"] == "a"
    assert comparison["changes"][0]["settings"][0]["second"] == family.resolve("position", "rope")
    assert comparison["difference"]["nats_per_character_difference"] == pytest.approx(np.mean(CHILD) - 1.095)
    assert [one["state"] for one in comparison["laws"]] == ["holds"] * 8


def test_the_page_says_the_verdict_only_where_it_may(bench: Bench):
    a, b = bench.arm("a", PARENT), bench.arm("b", CHILD, position="rope")
    judged = " ".join(onechange("compare", a, b).out.split())
    assert "b against a, best checkpoint: better, 0.04 nats per character lower" in judged
    c = bench.arm("c", CHILD, position="rope", steps=12)
    loose = " ".join(onechange("compare", a, c).out.split())
    assert "better" not in loose and "0.04 nats per character lower" in loose
    assert "Not judged. Law 1, one change: 2 things differ" in loose


def test_arms_of_two_studies_with_one_name_are_told_apart(bench: Bench):
    other = Bench(bench.folder / "other")
    (bench.folder / "other").mkdir()
    a = bench.arm("a", PARENT)
    b = other.arm("a", CHILD, position="rope")
    renamed = b.parents[1].rename(b.parents[1].with_name("second"))
    found = compare([a, renamed / "arms/a"], "best")
    assert [group.name for group in found.groups] == ["study/a", "second/a"]


def test_a_checkpoint_of_another_name_is_refused(bench: Bench):
    a = bench.arm("a", PARENT)
    refused(onechange("compare", a, a, "--checkpoint", "worst"), "'worst'", "best, last")


# Real runs.


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of a study of two arms with one seed."""
    folder = tmp_path_factory.mktemp("trained")
    arms = "--arm", "plain", "--arm", "merged"
    with in_haste(tmp_path_factory.mktemp("cache")):
        outcome = onechange("run", study_file(folder), "--scale", "tiny", "--out", folder / "out", *arms)
        assert outcome.status == 0, outcome.err
        yield folder / "out"


def test_real_arms_give_the_difference_of_their_study(trained: Path):
    document = onechange("compare", trained / "arms/plain", trained / "arms/merged", "--json").document
    (comparison,) = document["comparisons"]
    results = json.loads((trained / "results.json").read_text())
    versus = next(arm for arm in results["arms"] if arm["name"] == "merged")["versus_parent"]
    for key in ("nats_per_character_difference", "low", "high", "interval"):
        assert comparison["difference"][key] == versus[key]
    assert {law["number"] for law in comparison["laws"] if law["state"] != "holds"} == {6}
    assert comparison["changes"][0]["thing"] == "tokenizer" and comparison["verdict"] is None


def test_where_every_run_has_a_test_text_that_judges(bench: Bench):
    """Validation says the arm is better, the test text that it is worse; with one run untested validation decides."""
    parent, arm = bench.arm("parent", [1.0, 1.1, 1.2]), bench.arm("arm", [0.9, 1.0, 1.1], position="rope")
    ratios = {"parent": [1.0, 1.1, 1.2], "arm": [1.3, 1.41, 1.49]}

    def put(name: str, seed: int, tested: dict[str, Any] | None) -> None:
        path = bench.folder / f"study/arms/{name}/seed-{seed}/measures.json"
        measures = json.loads(path.read_text())
        measures["best"] = {k: v for k, v in measures["best"].items() if k != "test"}
        measures["best"] |= {"test": tested} if tested else {}
        path.write_text(json.dumps(measures))

    for name, values in ratios.items():
        for seed, ratio in enumerate(values):
            put(name, seed, figures(ratio, (50, 70)))
    found = compare([parent, arm], "best").comparisons[0]
    expected = stats.ttest_rel(ratios["arm"], ratios["parent"]).confidence_interval(0.95)
    assert found.difference and found.difference.low == pytest.approx(expected.low)
    assert (found.verdict, found.group.runs[0].text) == ("worse", "test")
    assert "2 test stories, 120 characters" in found.laws[3].reason
    outcome = onechange("compare", parent, arm)
    assert "arm against parent, best checkpoint, on test text: worse" in " ".join(outcome.out.split())
    put("arm", 1, None)
    again = compare([parent, arm], "best").comparisons[0]
    assert (again.verdict, again.group.runs[0].text) == ("better", "validation")


def test_differences_carry_the_numbers_of_their_seeds(bench: Bench):
    parent, arm = (
        bench.arm("parent", [1.0, 1.1, 1.2, 1.3]),
        bench.arm("arm", [0.9, 1.0, 1.1, 1.2], position="rope"),
    )
    found = compare([parent, arm / "seed-1", arm / "seed-3"], "best").comparisons[0]
    assert found.difference and [pair.seed for pair in found.difference.seed_differences] == [1, 3]
