"""A whole study: what its folder holds, what survives a kill, what is refused."""

import errno
import json
import math
import os
import signal
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
import torch
from safetensors.numpy import load_file
from scipy import stats

from onechange import atomic, engine, laboratory
from onechange import run as run_module
from onechange.checkpoint_reader import read as read_run
from onechange.documents import prepare
from onechange.family import resolve
from onechange.model import Model, surprise
from onechange.readings import measured as ruler
from onechange.sampling import Sampling
from onechange.study_folder import StudyFolder
from small_studies import CHARACTERS, STUDY, Nursery, Outcome, files, onechange, study_file, without_times

BOUNCING = STUDY.replace(
    "evaluate_every = 3",
    "evaluate_every = 3\noptimizer = { learning_rate = 1.0 }\nschedule = { warmup = 0, final = 1.0 }",
)
"""The study with steps so long that the best checkpoint is hardly ever the last."""

ARMS = ("plain", "merged", "turned")
FIRST_KEYS = {"step", "nats_per_token", "nats_per_character", "bits_per_byte"}
HISTORY_KEYS = {
    "step",
    "tokens",
    "characters",
    "operations",
    "seconds",
    "batch_loss",
    "training_loss",
    "validation_loss",
    "training_nats_per_character",
    "validation_nats_per_character",
}
RUN_FILES = {
    "recipe.toml",
    "environment.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "metrics.jsonl",
    "timing.jsonl",
    "measures.json",
    "checkpoints/best.json",
    "checkpoints/last.json",
    "samples/best.jsonl",
    "samples/last.jsonl",
    "characters/best.safetensors",
    "characters/last.safetensors",
}


def tale(number: int) -> str:
    """A short story, another one for every number."""
    random = np.random.default_rng(number)
    who, what, where = (
        random.choice(words.split()) for words in ("Tom Lily Max Anna", "cat box hat", "park lake")
    )
    return f"{who} had a {what}. The {what} was at the {where}. " + " ".join(
        f"{random.choice(['One day', 'Then', 'So'])} {who} {random.choice(['ran', 'saw', 'sat'])} {where}-{n}."
        for n in range(random.integers(2, 6))
    )


def text_file(path: Path, stories: list[str]) -> Path:
    """``stories`` as the corpus `file` reads several."""
    path.write_text("\n<|endoftext|>\n".join(stories), encoding="utf-8")
    return path


@pytest.fixture(scope="module", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("COLUMNS", "100")
        patch.setattr(os, "fsync", lambda file: None)  # what a power cut would lose is not tested here
        yield


@pytest.fixture
def no_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """The page takes longer than the study, and has tests of its own."""
    monkeypatch.setattr(laboratory.report, "write", lambda folder: None)


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Thirty stories, three of them to validate on."""
    return text_file(tmp_path_factory.mktemp("text") / "tales.txt", [tale(number) for number in range(30)])


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, text: Path) -> Path:
    """The study on the tales with two seeds, never interrupted."""
    folder = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(laboratory.report, "write", lambda folder: None)
        outcome = run(folder, text, "--seeds", "2")
    assert outcome.status == 0, outcome.err
    return folder / "out"


def run(folder: Path, text: Path, *words: object, content: str = BOUNCING, json_: bool = True) -> Outcome:
    """The study on ``text`` in ``folder``/out."""
    return onechange(*arguments(folder, text, *words, content=content), *(["--json"] if json_ else []))


def arguments(folder: Path, text: Path, *words: object, content: str = BOUNCING) -> list[object]:
    file = folder / "small.toml"
    if not file.exists():
        study_file(folder, content)
    return ["run", file, "--scale", "tiny", "--data", f"file:{text}", "--out", folder / "out", *words]


def test_readings_of_a_study_fit_its_ruler_and_its_excerpt(whole: Path) -> None:
    corpus = json.loads((whole / "corpus.json").read_text())
    results = json.loads((whole / "results.json").read_text())
    assert corpus["excerpt"].startswith(tale(9) + corpus["separator"] + tale(19))
    assert results["excerpt"] == corpus["excerpt"]
    for arm in results["arms"]:
        for one in arm["runs"]:
            folder = whole / f"arms/{arm['name']}/seed-{one['seed']}"
            measures = json.loads((folder / "measures.json").read_text())
            for which, figures in measures.items():
                nats = load_file(folder / f"characters/{which}.safetensors")["nats"]
                assert nats.dtype == np.float32
                ends = np.cumsum(figures["stories"]["characters"])
                stories = [part.sum(dtype=np.float64) for part in np.split(nats, ends[:-1])]
                np.testing.assert_allclose(stories, figures["stories"]["nats"], rtol=1e-5)
                shown = figures["readings"].pop("excerpt")
                np.testing.assert_allclose(shown, nats[: len(corpus["excerpt"])], atol=5.1e-5)
                assert one[which]["readings"] == figures["readings"], "all but the excerpt"
                kinds = figures["readings"]["by_kind"].values()
                assert math.fsum(kind["nats"] for kind in kinds) == pytest.approx(figures["nats"], rel=1e-12)
                for key in ("by_position", "by_context"):
                    assert sum(each["tokens"] for each in figures["readings"][key]) == figures["tokens"]


# --- from beginning to end ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def storyworld(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Outcome]:
    """The study on its own corpus, with its page."""
    folder = tmp_path_factory.mktemp("storyworld")
    outcome = onechange("run", study_file(folder), "--scale", "tiny", "--out", folder / "out")
    return folder / "out", outcome


def test_a_study_ends_with_its_answer_and_its_page(storyworld: tuple[Path, Outcome]) -> None:
    folder, outcome = storyworld
    assert outcome.status == 0, outcome.err
    assert "What do merges and rotation buy [here]?" in outcome.out, "brackets are no markup"
    assert str(folder / "report.html") in outcome.out.replace("\n", "")
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "What do merges and rotation buy [here]?" in page
    assert (folder / "report.md").is_file()
    for arm in ARMS:
        assert arm in outcome.out
        assert arm in page
    assert list(folder.rglob("*.part")) == []


def test_results_hold_every_promised_key(storyworld: tuple[Path, Outcome]) -> None:
    results = json.loads((storyworld[0] / "results.json").read_text(encoding="utf-8"))
    assert results["study"] == "small"
    assert results["scale"] == "tiny"
    assert results["status"] == "finished"
    corpus = prepare(resolve("corpus", {"name": "storyworld", "characters": CHARACTERS}))
    training, validation = (sum(map(len, part)) for part in (corpus.training, corpus.validation))
    expected = {
        "documents": len(corpus.training) + len(corpus.validation),
        "characters": training + validation,
        "training_characters": training,
        "validation_characters": validation,
        "distinct_characters": len(set("".join([*corpus.training, *corpus.validation]))),
        "duplicates_removed": 0,
        "fingerprint": corpus.fingerprint,
    }
    assert {key: results["corpus"][key] for key in expected} == expected
    assert 0 < results["entropy_floor"] < 1
    assert [arm["name"] for arm in results["arms"]] == list(ARMS)
    assert [arm["from"] for arm in results["arms"]] == [None, "plain", "merged"]
    assert [arm["change"] for arm in results["arms"]] == [
        None,
        {"tokenizer": {"name": "bpe", "vocabulary": 120}},
        {"position": "rope"},
    ]
    for arm in results["arms"]:
        assert arm["training_tokens"] > 0
        assert arm["validation_tokens"] > 0
        assert (arm["versus_parent"] is None) == (arm["from"] is None)
        assert (arm["versus_parent_last"] is None) == (arm["from"] is None)
        (only,) = arm["runs"]
        assert (only["seed"], only["steps"], only["status"]) == (0, 6, "finished")
        assert only["seconds"] > 0
        assert only["best"].keys() >= FIRST_KEYS
        assert only["last"].keys() >= FIRST_KEYS
        assert [row["step"] for row in only["history"]] == [1, 3, 6]
        for row in only["history"]:
            assert row.keys() >= HISTORY_KEYS
    sizes = {arm["name"]: arm["parameters"] for arm in results["arms"]}
    assert sizes["merged"] - sizes["turned"] == 16 * 16, "learned positions: window times width"


def test_figures_follow_from_the_measures_on_disk(whole: Path) -> None:
    """Recomputed here from `measures.json`, `tokenizer.json` and the corpus alone."""
    results = json.loads((whole / "results.json").read_text())
    arms = {arm["name"]: arm for arm in results["arms"]}
    assert any(one["best"]["step"] != one["last"]["step"] for arm in arms.values() for one in arm["runs"])
    assert any(
        arm["versus_parent"]["nats_per_character_difference"]
        != arm["versus_parent_last"]["nats_per_character_difference"]
        for arm in results["arms"][1:]
    )
    for name, arm in arms.items():
        for one in arm["runs"]:
            folder = whole / "arms" / name / f"seed-{one['seed']}"
            measures = json.loads((folder / "measures.json").read_text())
            rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
            best = min(rows, key=lambda row: (row["validation_loss"], row["step"]))
            assert one["best"]["step"] == measures["best"]["step"] == best["step"]
            assert one["last"]["step"] == measures["last"]["step"] == 6
            for which in ("best", "last"):
                nats = math.fsum(measures[which]["stories"]["nats"])
                characters = sum(measures[which]["stories"]["characters"])
                assert characters == results["corpus"]["validation_characters"] + 3 * 2
                assert one[which]["nats_per_character"] == pytest.approx(nats / characters, rel=1e-12)
                assert one[which]["nats_per_token"] == pytest.approx(
                    nats / arm["validation_tokens"], rel=1e-12
                )
                assert one[which]["bits_per_byte"] == pytest.approx(
                    nats / math.log(2) / characters, rel=1e-12
                )
                step = {row["step"]: row for row in rows}[one[which]["step"]]
                rough = step["validation_loss"] * arm["validation_tokens"] / characters
                assert one[which]["rough_nats_per_character"] == pytest.approx(rough, rel=1e-12)
                assert rough == pytest.approx(step["validation_nats_per_character"], rel=1e-12)
    for name, parent in (("merged", "plain"), ("turned", "merged")):
        for which, key in (("best", "versus_parent"), ("last", "versus_parent_last")):
            differences = [
                mine[which]["nats_per_character"] - other[which]["nats_per_character"]
                for mine, other in zip(arms[name]["runs"], arms[parent]["runs"], strict=True)
            ]
            found = arms[name][key]["nats_per_character_difference"]
            assert found == pytest.approx(np.mean(differences), rel=1e-9)


def test_characters_per_token_and_counts_follow_from_the_tokenizer_on_disk(whole: Path, text: Path) -> None:
    results = json.loads((whole / "results.json").read_text())
    corpus = prepare(resolve("corpus", {"name": "file", "path": str(text)}))
    for arm in results["arms"]:
        trained = read_run(whole / "arms" / arm["name"] / "seed-0", "last")
        gap = len(trained.tokenizer.encode("\n\n"))
        tokens = {
            part: sum(len(trained.tokenizer.encode(story)) + gap for story in stories)
            for part, stories in (("training", corpus.training), ("validation", corpus.validation))
        }
        characters = sum(len(story) + 2 for story in corpus.training)
        assert arm["training_tokens"] == tokens["training"]
        assert arm["validation_tokens"] == tokens["validation"]
        assert arm["characters_per_token"] == pytest.approx(characters / tokens["training"])
        assert arm["vocabulary"] == trained.tokenizer.vocabulary_size
        assert arm["parameters"] == sum(p.numel() for p in trained.model.parameters())
        assert arm["times_text_seen"] == pytest.approx(6 * 4 * 16 / tokens["training"])


def test_samples_of_best_and_last_come_from_the_files_on_disk(whole: Path) -> None:
    for arm in ARMS:
        folder = whole / "arms" / arm / "seed-1"
        for which in ("best", "last"):
            lines = [
                json.loads(line) for line in (folder / "samples" / f"{which}.jsonl").read_text().splitlines()
            ]
            again = onechange(
                "sample", folder, "--checkpoint", which, "--tokens", 24, "--prompt", "The ", "--json"
            )
            assert [(line["prompt"], line["number"]) for line in lines] == [("The ", 0), ("The ", 1)], (
                "the other prompt has characters unknown here"
            )
            assert again.document["text"] == lines[0]["text"]
            assert lines[0]["tokens"] <= 24
            assert lines[0]["ended"] or lines[0]["tokens"] == 24
            sampling = Sampling(tokens=24, samples=2, stop=["\n\n"])
            assert lines[0]["settings"] == msgspec.structs.asdict(sampling)


# --- laws -----------------------------------------------------------------------------------------------------------


def merges(folder: Path, validation: str, learn_from: str) -> tuple[list[Any], dict[str, Any]]:
    """What the arm `merged` learned where every tenth story is ``validation``; and its facts."""
    folder.mkdir()
    stories = [tale(number) if number % 10 else f"{validation} {number}." for number in range(1, 31)]
    table = f'{{ name = "bpe", vocabulary = 60, learn_from = "{learn_from}" }}'
    content = STUDY.replace('{ name = "bpe", vocabulary = 120 }', table)
    outcome = run(folder, text_file(folder / "t.txt", stories), "--arm", "merged", content=content)
    assert outcome.status == 0, outcome.err
    content = json.loads((folder / "out/arms/merged/seed-0/tokenizer.json").read_text())
    return content["model"]["merges"], outcome.document["arms"][0]


@pytest.mark.usefixtures("no_page")
def test_law_5_merges_are_learned_from_training_text_only(tmp_path: Path) -> None:
    one, other = "Tom saw Anna " * 30, "had a hat. had a hat " * 30
    first, facts = merges(tmp_path / "a", one, "training")
    second, _ = merges(tmp_path / "b", other, "training")
    assert first == second
    assert facts["peeking"] is False
    third, peeking = merges(tmp_path / "c", one, "all")
    fourth, _ = merges(tmp_path / "d", other, "all")
    assert third != fourth
    assert third != first
    assert peeking["peeking"] is True
    assert any("validation text too" in remark for remark in peeking["remarks"])


def plain_interval(arm: list[Any], parent: list[Any]) -> tuple[float, float]:
    """The design's formula, written out: mean ± t(n−1) · sqrt(s²_seeds/n + s²_stories/N)."""
    characters = np.array(arm[0]["stories"]["characters"])
    nats = np.array(
        [np.subtract(a["stories"]["nats"], p["stories"]["nats"]) for a, p in zip(arm, parent, strict=True)]
    )
    by_seed = nats.sum(axis=1) / characters.sum()
    by_story = (nats.mean(axis=0) - by_seed.mean() * characters) / characters.mean()
    n, stories = nats.shape
    half = stats.t.ppf(0.975, n - 1) * math.sqrt(by_seed.var(ddof=1) / n + by_story.var(ddof=1) / stories)
    return by_seed.mean() - half, by_seed.mean() + half


@pytest.mark.usefixtures("no_page")
def test_law_6_a_verdict_takes_three_seeds_and_seeds_may_be_added(
    tmp_path: Path, text: Path, whole: Path
) -> None:
    first = run(tmp_path, text).document
    runs = tmp_path / "out/arms"
    before = {path: path.stat().st_mtime_ns for path in runs.rglob("seed-*/**/*") if path.is_file()}
    second = run(tmp_path, text, "--resume", "--seeds", 2).document
    third = run(tmp_path, text, "--resume", "--seeds", "2,0").document
    after = {path: path.stat().st_mtime_ns for path in before}
    assert before == after, "a finished run is not touched"

    for results, seeds in ((first, [0]), (second, [0, 1]), (third, [0, 1, 2])):
        assert results["status"] == "finished"
        for arm in results["arms"]:
            assert [one["seed"] for one in arm["runs"]] == seeds
        for key in ("versus_parent", "versus_parent_last"):
            found = results["arms"][1][key]
            assert found["seeds"] == len(seeds)
            if len(seeds) < 3:
                assert found["verdict"] == "one seed: not judged"
                assert found["interval"] == "text"
            else:
                assert found["interval"] == "seeds and text"
                which = "best" if key == "versus_parent" else "last"
                measures = [
                    [
                        json.loads((runs / arm / f"seed-{n}" / "measures.json").read_text())[which]
                        for n in seeds
                    ]
                    for arm in ("merged", "plain")
                ]
                low, high = plain_interval(*measures)
                assert (found["low"], found["high"]) == pytest.approx((low, high), rel=1e-9)
                expected = "better" if high < 0 else "worse" if low > 0 else "no difference seen"
                assert found["verdict"] == expected
    assert files(runs / "plain/seed-1") == files(whole / "arms/plain/seed-1"), (
        "when a seed is added does not matter"
    )


def test_law_8_a_run_holds_all_that_made_it(whole: Path) -> None:
    corpus = json.loads((whole / "corpus.json").read_text())
    for arm in ARMS:
        folder = whole / "arms" / arm / "seed-1"
        there = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
        assert there >= RUN_FILES
        recipe = tomllib.loads((folder / "recipe.toml").read_text())
        assert recipe["corpus_fingerprint"] == corpus["fingerprint"]
        assert recipe["seed"] == 1
        assert recipe["steps"] == 6
        assert recipe["position"]["name"] == ("rope" if arm == "turned" else "learned")
        environment = json.loads((folder / "environment.json").read_text())
        assert environment["versions"].keys() >= {"onechange", "torch", "numpy"}
        assert environment["machine"]["processor"]
        assert environment["threads"] == recipe["threads"] == 1
        assert environment["precision"] == recipe["precision"] == "float32"
        assert environment["compile"] is recipe["compile"] is False
        assert len(environment["identity"]) == 64
        steps = {
            json.loads((folder / f"checkpoints/{which}.json").read_text())["step"]
            for which in ("best", "last")
        }
        kept = {int(path.name.removeprefix("step-")) for path in (folder / "checkpoints").glob("step-*")}
        assert kept == steps
        for step in kept:
            inside = {path.name for path in (folder / f"checkpoints/step-{step:06d}").iterdir()}
            assert inside == {"model.safetensors", "optimizer.safetensors", "state.json"}


@pytest.mark.usefixtures("no_page")
@pytest.mark.parametrize(("arm", "seeds"), [("turned", "1"), ("merged", "1,"), ("plain", "1,0")])
def test_a_run_alone_is_the_same_run(tmp_path: Path, text: Path, whole: Path, arm: str, seeds: str) -> None:
    outcome = run(tmp_path, text, "--arm", arm, "--seeds", seeds)
    assert outcome.status == 0, outcome.err
    assert outcome.document["status"] == "unfinished"
    alone = tmp_path / "out/arms"
    assert [folder.name for folder in alone.iterdir()] == [arm]
    for seed in alone.joinpath(arm).glob("seed-*"):
        assert files(seed) == files(whole / "arms" / arm / seed.name)


@pytest.mark.usefixtures("no_page")
def test_arms_one_after_the_other_make_the_whole_study(tmp_path: Path, text: Path, whole: Path) -> None:
    for arm in ("turned", "plain", "merged"):
        outcome = run(tmp_path, text, "--arm", arm, "--seeds", 2, "--resume")
        assert outcome.status == 0, outcome.err
    assert files(tmp_path / "out", TIMES_AND_START) == files(whole, TIMES_AND_START)
    assert same_results(tmp_path / "out", whole)


TIMES_AND_START = ("environment.json", "timing.jsonl", "results.json", "start.json", ".lock")
"""`start.json` holds the command."""


@pytest.mark.usefixtures("no_page")
def test_a_study_is_finished_when_all_arms_have_the_same_seeds(tmp_path: Path, text: Path) -> None:
    assert run(tmp_path, text).document["status"] == "finished"
    assert run(tmp_path, text, "--resume", "--arm", "plain", "--seeds", 2).document["status"] == "unfinished"
    rest = run(tmp_path, text, "--resume").document
    assert rest["status"] == "finished"
    assert [len(arm["runs"]) for arm in rest["arms"]] == [2, 2, 2]


def same_results(one: Path, other: Path) -> bool:
    first, second = (json.loads((folder / "results.json").read_text()) for folder in (one, other))
    return without_times(first) == without_times(second)


# --- law 7: nothing lost --------------------------------------------------------------------------------------------

KILL = """
import os, signal, onechange.{module} as module
original, calls = module.{name}, []
def killing(*given, **named):
    calls.append(given)
    if {when}:
        os.kill(os.getpid(), signal.SIGKILL)
    {after}
module.{name} = killing
import onechange.laboratory
onechange.laboratory.report.write = lambda folder: None
"""
BEFORE = "return original(*given, **named)"
DEATHS = {
    "training": KILL.format(
        module="orders",
        name="execute",
        when="False",
        after="""data, watch = given[1], given[5]
    def watching(moment):
        watch(moment)
        if len(calls) == 2 and moment.step == 4:
            os.kill(os.getpid(), signal.SIGKILL)
    return original(*given[:5], watching)""",
    ),
    "measuring": KILL.format(module="run", name="measure", when="len(calls) == 4", after=BEFORE),
    "sampling": KILL.format(module="written", name="generate", when="len(calls) == 3", after=BEFORE),
    "measuring what was sampled": KILL.format(
        module="written", name="measured", when="len(calls) == 3", after=BEFORE
    ),
    "between runs": KILL.format(module="record", name="write", when="len(calls) == 3", after=BEFORE),
    "before the start is known": KILL.format(
        module="atomic", name="write", when="given[0].name == 'start.json'", after=BEFORE
    ),
}


@pytest.fixture(scope="module")
def nursery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nursery]:
    found = Nursery(tmp_path_factory.mktemp("nursery"))
    yield found
    found.close()


def killed(nursery: Nursery, words: list[object], program: str) -> None:
    outcome = nursery.onechange(words, program)
    assert outcome.status == -signal.SIGKILL, outcome


@pytest.mark.usefixtures("no_page")
@pytest.mark.parametrize("place", DEATHS)
def test_law_7_a_killed_study_ends_as_if_it_had_not_been(
    tmp_path: Path, text: Path, whole: Path, nursery: Nursery, place: str
) -> None:
    killed(nursery, arguments(tmp_path, text, "--seeds", 2), DEATHS[place])
    out = tmp_path / "out"
    if place != "before the start is known":
        unfinished = onechange("report", out, "--json")
        assert unfinished.document["status"] == "unfinished"
    resumed = run(tmp_path, text, "--seeds", 2, "--resume")
    assert resumed.status == 0, resumed.err
    assert files(out, TIMES_AND_START) == files(whole, TIMES_AND_START)
    assert same_results(out, whole)


@pytest.mark.usefixtures("no_page")
def test_a_resume_remembers_seeds_and_study_that_were_asked_for(
    tmp_path: Path, text: Path, whole: Path, nursery: Nursery
) -> None:
    killed(nursery, arguments(tmp_path, text, "--seeds", 2), DEATHS["training"])
    resumed = onechange("run", "--out", tmp_path / "out", "--resume", "--json")
    assert resumed.status == 0, resumed.err
    assert same_results(tmp_path / "out", whole)
    chosen = onechange("run", "--out", tmp_path / "out", "--resume", "--arm", "turned", "--json")
    assert chosen.status == 0, chosen.err


@pytest.mark.long
@pytest.mark.usefixtures("no_page")
@pytest.mark.parametrize("moment", ["before", "within", "after"])
@pytest.mark.parametrize("number", [*range(1, 24), 36, 52, 97])
def test_law_7_at_any_write(
    tmp_path: Path, text: Path, whole: Path, nursery: Nursery, number: int, moment: str
) -> None:
    """The n-th file that is written as a whole: killed before it, half way through, and right after it."""
    after = {
        "before": BEFORE,
        "within": BEFORE,
        "after": "\n    ".join(
            (
                "made = original(*given, **named)",
                f"if len(calls) == {number}: os.kill(os.getpid(), signal.SIGKILL)",
                "return made",
            )
        ),
    }[moment]
    when = {
        "before": f"len(calls) == {number}",
        "within": f"len(calls) == {number} and given[0].with_name(given[0].name + '.part').write_bytes(b'{{') ",
        "after": "False",
    }[moment]
    killed(
        nursery,
        arguments(tmp_path, text, "--seeds", 2),
        KILL.format(module="atomic", name="write", when=when, after=after),
    )
    resumed = run(tmp_path, text, "--seeds", 2, "--resume")
    assert resumed.status == 0, resumed.err
    assert files(tmp_path / "out", TIMES_AND_START) == files(whole, TIMES_AND_START)
    assert same_results(tmp_path / "out", whole)


# --- what goes wrong on the way -------------------------------------------------------------------------------------


@pytest.mark.usefixtures("no_page")
def test_an_arm_whose_loss_is_no_number_is_marked_and_the_others_finish(tmp_path: Path, text: Path) -> None:
    content = STUDY.replace(
        "[sampling]",
        '[[arm]]\nname = "wild"\nfrom = "merged"\nchange.optimizer = { learning_rate = 1e30 }\n\n'
        '[[arm]]\nname = "tamed"\nfrom = "wild"\nchange.optimizer = { learning_rate = 1e-3 }\n\n[sampling]',
    )
    outcome = run(tmp_path, text, content=content)
    assert outcome.status == 1
    assert "wild, seed 0: stopped" in outcome.err
    assert "step 1" in outcome.err
    arms = {arm["name"]: arm for arm in outcome.document["arms"]}
    for name, arm in arms.items():
        assert arm["runs"][0]["status"] == ("failed" if name == "wild" else "finished")
    assert "step 1" in arms["wild"]["runs"][0]["error"]
    assert arms["wild"]["runs"][0]["best"] is None
    assert arms["wild"]["versus_parent"] is None
    assert arms["tamed"]["versus_parent"] is None
    assert arms["turned"]["versus_parent"] is not None
    assert outcome.document["status"] == "unfinished"
    again = run(tmp_path, text, "--resume", content=content)
    assert again.status == 1, "nothing changed, so it fails again"
    assert without_times(again.document) == without_times(outcome.document)


def test_two_processes_do_not_share_a_study(whole: Path, text: Path) -> None:
    with StudyFolder(whole).locked():
        outcome = onechange("run", "--out", whole, "--resume")
    assert outcome.status == 2
    assert outcome.err.count("\n") == 1
    assert "another process" in outcome.err
    assert str(whole) in outcome.err


@pytest.mark.usefixtures("no_page")
@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["small.toml", "--scale", "tiny"], "--resume"),
        (["small.toml", "--scale", "quick", "--resume"], "--scale tiny"),
        (
            ["small.toml", "--scale", "tiny", "--data", "storyworld", "--resume"],
            "other data than 'storyworld'",
        ),
        (["other.toml", "--scale", "tiny", "--resume"], "another study"),
        (["small.toml", "--resume", "--arm", "nobody"], "no arm 'nobody'"),
        (["--resume", "--arm", "nobody"], "no arm 'nobody' in this study; there is plain, merged, turned"),
    ],
)
def test_a_folder_that_holds_a_study_is_not_given_to_another(
    whole: Path, words: list[str], named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study_file(tmp_path, BOUNCING)
    study_file(tmp_path, BOUNCING.replace("vocabulary = 120", "vocabulary = 121"), "other.toml")
    monkeypatch.chdir(tmp_path)
    before = files(whole, ())
    outcome = onechange("run", *words, "--out", whole)
    assert outcome.status == 2
    assert named in outcome.err
    assert outcome.err.count("\n") == 1
    assert files(whole, ()) == before


@pytest.mark.usefixtures("no_page")
def test_text_that_changed_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    stories = [tale(number) for number in range(30)]
    text = text_file(tmp_path / "t.txt", stories)
    assert run(tmp_path, text).status == 0
    before = files(tmp_path / "out", ())
    text_file(text, [*stories[:-1], "Another end."])
    for words in (["--resume"], ["--resume", "--seeds", "4,", "--arm", "plain"]):
        outcome = run(tmp_path, text, *words)
        assert outcome.status == 2
        assert "other text" in outcome.err
        assert files(tmp_path / "out", ()) == before


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("batch = 4", "batch = 0", "batch = 0"),
        ("evaluate_every = 3", "evaluate_every = 0", "evaluate_every = 0"),
        ("evaluate_every = 3", "evaluate_every = 3\nclip = -1.0", "clip = -1"),
        ("evaluate_every = 3", "evaluate_every = 3\nthreads = -2", "threads"),
        (
            "evaluate_every = 3",
            "evaluate_every = 3\noptimizer = { learning_rate = -1.0 }",
            "learning_rate = -1",
        ),
        ("evaluate_every = 3", "evaluate_every = 3\nschedule = { warmup = -1 }", "warmup = -1"),
        ("width = 16", "width = 15", "width = 15"),
        ("tokens = 24", "tokens = 0", "tokens = 0"),
        ("tokens = 24", "temperature = nan", "temperature = nan"),
        ("tokens = 24", "top_k = -1", "top_k = -1"),
        ('"The "', '""', "prompts"),
        ('demonstration = "The sun was warm."', "demonstration = 4", "demonstration"),
    ],
)
def test_what_is_wrong_shows_before_anything_is_written(
    tmp_path: Path, text: Path, old: str, new: str, named: str
) -> None:
    assert old in STUDY
    outcome = run(tmp_path, text, content=STUDY.replace(old, new))
    assert outcome.status == 2
    assert named in outcome.err
    assert outcome.err.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("no_page")
def test_a_study_without_prompts_and_without_arms(tmp_path: Path, text: Path) -> None:
    content = STUDY.replace('prompts = ["One day, ", "The "]\n', "")
    content = content[: content.index("[[arm]]")] + content[content.index("[sampling]") :]
    outcome = run(tmp_path, text, content=content)
    assert outcome.status == 0, outcome.err
    assert (tmp_path / "out/arms/plain/seed-0/samples/best.jsonl").read_bytes() == b""
    assert outcome.document["prompts"] == []


@pytest.mark.usefixtures("no_page")
def test_prompts_that_the_alphabet_cannot_write_are_replaced(tmp_path: Path) -> None:
    """A text without a single space: the beginnings of its stories must not gain one."""
    stories = [
        "".join(f"{letter}\n{n % 7}{n % 5}\n" for letter in "abcdefghijklmn") + str(n) for n in range(20)
    ]
    outcome = run(tmp_path, text_file(tmp_path / "t.txt", stories), "--arm", "plain")
    assert outcome.status == 0, outcome.err
    assert "is left out" in outcome.err
    assert outcome.document["prompts"] == [stories[n][:19].rstrip() for n in (9, 19)]


@pytest.mark.usefixtures("no_page")
def test_a_run_trained_in_bf16_is_measured_in_float32(
    tmp_path: Path, text: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: set[torch.dtype] = set()
    trained: set[bool] = set()

    def measuring(model: Model, *given: Any) -> Any:
        for module in model.modules():
            module.register_forward_hook(lambda module, given, made: seen.add(made.dtype))
        return ruler(model, *given)

    def training(features: torch.Tensor, *rest: Any) -> torch.Tensor:
        trained.add(torch.is_autocast_enabled("cpu"))
        return surprise(features, *rest)

    monkeypatch.setattr(run_module, "measure", measuring)
    monkeypatch.setattr(engine, "surprise", training)
    content = BOUNCING.replace('precision = "float32"', 'precision = "bf16"')
    outcome = run(tmp_path, text, "--arm", "plain", content=content)
    assert outcome.status == 0, outcome.err
    recorded = json.loads((tmp_path / "out/arms/plain/seed-0/environment.json").read_text())
    assert recorded["precision"] == "bf16"
    assert trained == {True}
    assert seen == {torch.float32}, "of every part, the products too"


@pytest.mark.usefixtures("no_page")
def test_foreign_folders_beside_the_runs_are_left_alone(tmp_path: Path, text: Path) -> None:
    assert run(tmp_path, text).status == 0
    (tmp_path / "out/arms/plain/seed-0 copy").mkdir()
    assert run(tmp_path, text, "--resume").status == 0
    assert onechange("report", tmp_path / "out", "--json").status == 0


# --- no space left --------------------------------------------------------------------------------------------------


def full_at(name: str) -> Callable[..., None]:
    """`atomic.write` on a disk that is full when ``name`` is to be written."""
    original = atomic.write

    def write(path: Path, content: bytes | str) -> None:
        if path.name == name:
            path.with_name(f"{name}.part").write_bytes(b"{")
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        original(path, content)

    return write


@pytest.mark.usefixtures("no_page")
@pytest.mark.parametrize(
    "name", ["start.json", "arm.json", "best.json", "best.jsonl", "measures.json", "results.json"]
)
def test_a_full_disk_is_one_line_and_the_study_goes_on_later(
    tmp_path: Path, text: Path, whole: Path, name: str
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(atomic, "write", full_at(name))
        outcome = run(tmp_path, text, "--seeds", 2)
    assert outcome.status == 2
    assert outcome.out == ""
    assert outcome.err.splitlines()[-1].startswith("onechange: ")
    assert "No space left" in outcome.err
    resumed = run(tmp_path, text, "--seeds", 2, "--resume")
    assert resumed.status == 0, resumed.err
    assert files(tmp_path / "out", TIMES_AND_START) == files(whole, TIMES_AND_START)
    assert same_results(tmp_path / "out", whole)


LIMIT = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({0}, {0}))"


@pytest.mark.usefixtures("no_page")
def test_weights_that_find_no_room_are_one_line_too(
    tmp_path: Path, text: Path, whole: Path, nursery: Nursery
) -> None:
    """A limit on the size of files, which the checkpoint's writer meets and nothing before it."""
    sizes = [path.stat().st_size for path in (whole / "arms/plain/seed-0/checkpoints").rglob("*.safetensors")]
    limit = min(sizes) - 100
    assert limit > max((whole / name).stat().st_size for name in ("corpus.json", "start.json", "study.toml"))
    full = nursery.onechange(arguments(tmp_path, text, "--seeds", 2), LIMIT.format(limit))
    assert full.status == 2, full.err
    assert full.out == ""
    assert "Traceback" not in full.err
    assert "step-000001" in full.err.splitlines()[-1]
    resumed = run(tmp_path, text, "--seeds", 2, "--resume")
    assert resumed.status == 0, resumed.err
    assert files(tmp_path / "out", TIMES_AND_START) == files(whole, TIMES_AND_START)


def test_a_place_where_nothing_can_be_written(text: Path) -> None:
    outcome = onechange("run", "--data", f"file:{text}", "--out", "/proc/nowhere/out")
    assert outcome.status == 2
    assert outcome.err.count("\n") == 1
    assert "/proc/nowhere" in outcome.err


def test_a_full_disk_names_the_file_that_it_had_no_room_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The system's own error does not; the old file stays, and nothing half-written beside it."""

    def full(file: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    atomic.write(tmp_path / "notes.json", "old")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError) as error:
        atomic.write(tmp_path / "notes.json", "new")
    assert error.value.filename == str(tmp_path / "notes.json")
    assert [path.name for path in tmp_path.iterdir()] == ["notes.json"]
    assert (tmp_path / "notes.json").read_text() == "old"
