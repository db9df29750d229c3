"""What checkpoints write, measured: samples on the disk and the training text alone give the same figures again."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from onechange import family, kinds
from onechange.corpus.storyworld import Storyworld
from onechange.documents import Corpus, prepare
from onechange.record import collect
from onechange.stories import collected
from onechange.stories.measured import measured
from onechange.stories.measures import WORLD
from onechange.stories.story import Story, real
from onechange.study_folder import StudyFolder
from small_studies import STUDY, files, in_haste, onechange, study_file

CHARACTERS = 40_000
CONTENT = STUDY[: STUDY.index('[[arm]]\nname = "turned"')] + STUDY[STUDY.index("[sampling]") :].replace(
    "tokens = 24", "characters = 60\nsamples = 3"
).replace(
    "evaluate_every = 3",
    "evaluate_every = 3\noptimizer = { learning_rate = 1.0 }\nschedule = { warmup = 0, final = 1.0 }",
)
"""Two arms with steps so long that some run is best before its end."""
RUNS = [(arm, seed) for arm in ("plain", "merged") for seed in range(3)]


@pytest.fixture(scope="module", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with in_haste(tmp_path_factory.mktemp("cache")):
        yield


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("study")
    found = onechange(
        "run", study_file(folder, CONTENT), "--scale", "tiny", "--seeds", 3, "--out", folder / "out"
    )
    assert found.status == 0, found.err
    return folder / "out"


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return prepare(family.resolve("corpus", {"name": "storyworld", "characters": CHARACTERS}))


def lines(run: Path, which: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "samples" / f"{which}.jsonl").read_text().splitlines()]


def measures(run: Path, which: str) -> dict[str, Any]:
    return json.loads((run / "measures.json").read_text())[which]["written"]


def test_the_measures_are_those_of_the_samples_and_the_training_text(study: Path, corpus: Corpus):
    names = kinds.names(corpus.training)
    for arm, seed in RUNS:
        run = StudyFolder(study).run(arm, seed)
        for which in ("best", "last"):
            samples = lines(run, which)
            assert [(one["prompt"], one["number"]) for one in samples] == [
                (prompt, number) for prompt in ("One day, ", "The ", "") for number in range(3)
            ]
            stories = [Story(one["prompt"], one["text"], one["ended"]) for one in samples]
            again = measured(stories, corpus.training, corpus.separator, names)
            found = measures(run, which)
            world = found.pop("world")
            assert found == again.to_json()
            assert [one.get("marks") for one in samples] == [
                None if one["number"] else marks.to_json()
                for one, marks in zip(samples, again.marks, strict=True)
            ]
            begun = [one for one in samples if not one["prompt"]]
            read_back = Storyworld(characters=CHARACTERS).checked(
                [one["text"] for one in begun], [one["ended"] for one in begun]
            )
            assert world == {**read_back, "prompts": [0, 0, 0]}


def test_counts_by_hand(study: Path, corpus: Corpus):
    """What does not take our own code to count."""
    training = "".join(f"{story}\n\n" for story in corpus.training)
    known = set(re.findall(r"[a-z]+(?:'[a-z]+)*", training.casefold()))
    run = StudyFolder(study).run("merged", 1)
    samples, found = lines(run, "last"), measures(run, "last")["measures"]
    texts = [one["text"] for one in samples]
    assert found["length"]["counts"] == list(map(len, texts))
    assert found["ended"]["counts"] == [int(one["ended"]) for one in samples]
    longest = [
        max(
            end - start
            for start in range(len(t))
            for end in range(start, len(t) + 1)
            if t[start:end] in training
        )
        for t in texts
    ]
    assert found["longest_copy"]["counts"] == longest
    for one in samples:
        for start, end in one.get("marks", {}).get("unknown", []):
            assert one["text"][start:end].casefold() not in known


def test_results_follow_from_the_measures_on_the_disk(study: Path):
    results = json.loads((study / "results.json").read_text())
    folder, goes_on = StudyFolder(study), 0
    assert results["prompts"] == ["One day, ", "The ", ""]
    for arm in results["arms"]:
        for run in arm["runs"]:
            goes_on += run["best"]["step"] < run["last"]["step"]
            for which in ("best", "last"):
                written = measures(folder.run(arm["name"], run["seed"]), which)
                figures = run[which]["written"]
                assert figures == collected.figures(written)
                for name, counted in {**written["measures"], **written["world"]["measures"]}.items():
                    of = sum(counted["of"])
                    assert figures[name]["figure"] == (sum(counted["counts"]) / of if of else None)
        told = arm["stories"]
        for which in ("best", "last"):
            for name, figure in told[which].items():
                some = [run[which]["written"][name]["figure"] for run in arm["runs"]]
                some = [one for one in some if one is not None]
                assert figure["seeds"] == len(some)
                assert figure["figure"] == (pytest.approx(sum(some) / len(some)) if some else None)
        assert (told["versus_parent"] is None) == (arm["from"] is None)
    assert goes_on, "no run was best before its end"
    checkpoints = len(RUNS) + goes_on
    assert results["stories_tracking"]["length"]["points"] == checkpoints


def test_real_stories_stand_beside_them(study: Path, corpus: Corpus):
    """Two prompts of one and two words: with Python's rounding two. The true generator never contradicts itself."""
    found = json.loads((study / "results.json").read_text())["stories"]
    assert found == json.loads((study / "corpus.json").read_text())["stories"]
    assert (found["prompt_words"], found["characters"]) == (2, 60)
    stories = real(corpus.validation, 2, 60)
    expected = measured(stories, corpus.training, corpus.separator, corpus.names)
    assert found["real"]["longest_copy"]["figure"] == expected.measures["longest_copy"].figure
    assert found["real"]["longest_copy"]["stories"] == len(corpus.validation)
    world = {
        name: found["real"][f"world_{name}"]["figure"]
        for name in ("parsed", "whole", "read", "contradictions")
    }
    assert {f"world_{name}" for name in world} == WORLD.keys()
    assert world == {"parsed": 1, "whole": 1, "read": 1, "contradictions": 0}


def test_a_budget_in_tokens_is_one_of_the_base_s_characters(tmp_path: Path):
    content = CONTENT.replace("characters = 60\nsamples = 3", "tokens = 24").replace(
        'tokenizer = "character"', 'tokenizer = { name = "bpe", vocabulary = 120 }'
    )
    content = content[: content.index("[[arm]]")] + content[content.index("[sampling]") :]
    found = onechange(
        "run", study_file(tmp_path, content), "--scale", "tiny", "--out", tmp_path / "out", "--json"
    )
    base = found.document["arms"][0]
    assert base["characters_per_token"] > 1.2
    assert found.document["stories"]["characters"] == round(24 * base["characters_per_token"])
    assert base["stories"]["versus_parent"] is None


def copied(study: Path, folder: Path) -> StudyFolder:
    return StudyFolder(Path(shutil.copytree(study, folder / "copy")))


def altered(path: Path, change: Any) -> None:
    content = json.loads(path.read_text(encoding="utf-8"))
    change(content)
    path.write_text(json.dumps(content), encoding="utf-8")


def test_a_folder_of_an_earlier_version_is_still_read(study: Path, tmp_path: Path):
    old = copied(study, tmp_path)
    altered(old.path / "corpus.json", lambda found: found.pop("stories"))
    for arm, seed in RUNS:
        for which in ("best", "last"):
            altered(
                old.run(arm, seed) / "measures.json", lambda found, which=which: found[which].pop("written")
            )
    found = collect(old)
    assert found["stories"] is None and found["stories_tracking"] is None
    assert [arm["stories"] for arm in found["arms"]] == [None, None]
    assert "written" not in found["arms"][0]["runs"][0]["best"]
    fresh = collect(StudyFolder(study))
    assert found["arms"][1]["versus_parent"] == fresh["arms"][1]["versus_parent"]
    # A seed that is added later is measured, and alone in that.
    shutil.copy(study / "arms/merged/seed-2/measures.json", old.run("merged", 2) / "measures.json")
    merged = collect(old)["arms"][1]["stories"]
    assert (merged["best"]["length"]["seeds"], merged["versus_parent"]) == (1, None)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda found: found["measures"]["length"]["counts"].pop(), "length: 9 stories have 8 counts of 9"),
        (lambda found: found["world"]["prompts"].pop(), "3 stories have 2 prompts"),
        (lambda found: found["measures"]["length"].update(of=[-1] * 9), "Expected `int` >= 0"),
        (lambda found: found["measures"]["length"].update(counts=[1e300] * 9), "Expected `float` < "),
        (lambda found: found.update(measures=[]), "Expected `object`"),
    ],
)
def test_damaged_measures_are_named(study: Path, tmp_path: Path, change: Any, message: str):
    folder = copied(study, tmp_path)
    path = folder.run("plain", 0) / "measures.json"
    altered(path, lambda found: change(found["best"]["written"]))
    with pytest.raises(ValueError, match=re.escape(f"{path} is damaged: ") + ".*" + message):
        collect(folder)


def test_names_are_looked_for_in_the_beginning_of_the_training_text(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("onechange.documents.NAMED_IN", len(corpus.training[0]) + 1)
    fresh = Corpus(**{key: getattr(corpus, key) for key in corpus.__dataclass_fields__})
    assert fresh.names == kinds.names(corpus.training[:2]) != kinds.names(corpus.training)


SEEDED = """
import hashlib, json, sys
from onechange.corpus.storyworld import Storyworld
from onechange.stories.measured import measured
from onechange.stories.story import Story
world = Storyworld(characters=1)
texts = [world.story(number).text for number in range(52)]
stories = [Story("", text[:500].replace("she", "he"), False) for text in texts[12:]]
found = measured(stories, texts[:12], "\\n\\n", frozenset())
checked = world.checked([story.text for story in stories], [False] * 40)
print(json.dumps([found.to_json(), [marks.to_json() for marks in found.marks], checked]))
"""


def test_law_7_the_same_counts_in_every_process():
    """The order of a set of words is another one in every process; no sum may hang on it."""
    told = [
        subprocess.run(
            [sys.executable, "-c", SEEDED],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            check=True,
            capture_output=True,
        ).stdout
        for seed in (1, 2)
    ]
    assert json.loads(told[0])[0]["measures"]["distinct_words_between"]["of"] == [1] * 40
    assert hashlib.sha256(told[0]).digest() == hashlib.sha256(told[1]).digest()


def test_a_study_gone_on_with_is_the_same(study: Path, tmp_path: Path):
    """One run begun anew among finished ones."""
    again = copied(study, tmp_path)
    shutil.rmtree(again.run("merged", 1))
    assert onechange("run", "--resume", "--out", again.path).status == 0
    assert files(again.path) == files(study)
