"""What differs between a study and its resume is named, setting by setting."""

import json
import os
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st

from killed_runs import recipe
from onechange import differences, family, laboratory
from onechange.recipe import Recipe
from onechange.run import finished
from onechange.study import Study
from onechange.study_file import parse
from small_studies import STUDY, files, onechange, study_file
from test_laboratory import arguments, run, tale, text_file


@pytest.fixture(scope="module", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        patch.setattr(os, "fsync", lambda file: None)
        patch.setattr(laboratory.report, "write", lambda folder: None)
        yield


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A study of one finished run, and its text."""
    folder = tmp_path_factory.mktemp("begun")
    text = text_file(folder / "tales.txt", [tale(number) for number in range(30)])
    assert run(folder, text, "--arm", "plain", content=STUDY).status == 0
    return folder, text


CHANGES = [
    ('change.position = "rope"', 'change.position = "none"', "arm 'turned': position was rope, is now none"),
    ("vocabulary = 120", "vocabulary = 121", "arm 'merged': tokenizer.vocabulary was 120, is now 121"),
    ('from = "merged"', 'from = "plain"', "arm 'turned': from was merged, is now plain"),
    (
        'tokenizer = "character"',
        'tokenizer = "character"\nposition = "none"',
        "arm 'plain': position was not there, is now none",
    ),
    ("width = 16", "width = 32", "scale.tiny: width was 16, is now 32"),
    ("steps = 6", "steps = 7", "scale.tiny: budget.steps was 6, is now 7"),
    ("buy [here]", "cost [here]", "question was What do merges and rotation buy [here]?, is now What"),
    ('"One day, "', '"One day "', "prompts, number 1: was One day, , is now One day "),
    ('"The "]', '"The ", "So "]', "prompts were 2, are now 3"),
    ("[sampling]", "[sampling]\nseed = 7", "sampling: seed was not there, is now 7"),
    ("question =", "test = 0.2\nquestion =", "test was not there, is now 0.2"),
    (
        "question =",
        "tune.optimizer.learning_rate = [0.1, 0.2]\nquestion =",
        "tune.optimizer was not there, is now a table (learning_rate = [0.1, 0.2])",
    ),
    ("tokens = 24", "tokens = 25", "sampling: tokens was 24, is now 25"),
    ("characters = 40000", "characters = 50000", "corpus.characters was 40000, is now 50000"),
    ("The sun was warm.", "The sun was hot.", "demonstration was The sun was warm., is now The sun was hot."),
    ('name = "turned"', 'name = "twisted"', "arm 'turned' was taken out; arm 'twisted' was added"),
]


@pytest.mark.parametrize(("old", "new", "told"), CHANGES, ids=[told for *_, told in CHANGES])
def test_a_resume_with_a_changed_study_says_which_setting_differs(
    begun: tuple[Path, Path], old: str, new: str, told: str
):
    folder, text = begun
    assert STUDY.count(old) == 1
    (folder / "other").mkdir(exist_ok=True)
    file = study_file(folder / "other", STUDY.replace(old, new), "small.toml")
    words = arguments(folder, text, "--resume")
    words[1] = file
    before = files(folder / "out", ())
    outcome = onechange(*words)
    assert outcome.status == 2
    assert outcome.err.count("\n") == 1
    assert f"{folder / 'out'} holds another study than '{file}': {told}" in outcome.err
    assert files(folder / "out", ()) == before


def test_the_order_of_the_arms_and_the_base_s_name_count():
    held = parse(STUDY.encode())
    swapped = STUDY.replace('from = "merged"', 'from = "plain"')
    table = tomllib.loads(swapped)
    table["arm"].reverse()
    told = differences.of_studies(parse(swapped.encode()), parse(tomli_w.dumps(table).encode()))
    assert told == "the order of the arms was plain, merged, turned, is now plain, turned, merged"
    renamed = parse(
        STUDY.replace('name = "plain"', 'name = "bare"').replace('from = "plain"', 'from = "bare"').encode()
    )
    assert differences.of_studies(held, renamed) == (
        "the base was called plain, is now called bare; arm 'merged': from was plain, is now bare"
    )


VALUES = {
    "question": st.sampled_from(["Why?", "How?"]),
    "prompts": st.lists(st.sampled_from(["a", "b"]), max_size=3),
    "corpus": st.sampled_from(["storyworld", "tinystories", {"name": "storyworld", "characters": 9}]),
    "base": st.fixed_dictionaries(
        {}, optional={"name": st.sampled_from("xy"), "width": st.integers(1, 2), "norm": st.just("layer")}
    ),
    "sampling": st.fixed_dictionaries({}, optional={"seed": st.integers(0, 2), "tokens": st.integers(1, 2)}),
    "scale": st.dictionaries(
        st.sampled_from(["s", "t"]), st.fixed_dictionaries({}, optional={"width": st.integers(1, 2)})
    ),
}
NEEDED = {key: VALUES.pop(key) for key in ("question", "base")}
STUDIES = st.fixed_dictionaries(NEEDED, optional=VALUES)


@given(STUDIES, STUDIES)
def test_studies_differ_exactly_where_a_difference_is_told(one: dict[str, Any], other: dict[str, Any]):
    first, second = (parse(tomli_w.dumps(table).encode()) for table in (one, other))
    told = differences.of_studies(first, second)
    assert (told == "") == (plainly(first) == plainly(second)), told


def plainly(study: Study) -> Study:
    """With the base's name written out, and without scales that say nothing."""
    scales = {name: settings for name, settings in study.scales.items() if settings}
    return msgspec.structs.replace(study, base={"name": "base", **study.base}, scales=scales)


def other_value(value: Any) -> Any:
    """Another value of the same kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, str):
        return "bf16" if value == "float32" else f"{value}x"
    return value * 2 if value else 0.1


@pytest.mark.parametrize("key", [key for key in Recipe.__struct_fields__ if key not in ("corpus", "format")])
def test_every_setting_of_a_recipe_is_told(key: str):
    held = recipe()
    value = getattr(held, key)
    if isinstance(value, dict):
        inner = next(iter(reversed(value)))
        now = msgspec.structs.replace(held, **{key: {**value, inner: other_value(value[inner])}})
        told = f"{key} was" if inner == "name" else f"{key}.{inner} was {value[inner]}, is now"
        if key == "tokenizer":  # of another one, what decides its numbers is asked of the member
            now = msgspec.structs.replace(held, tokenizer=family.resolve("tokenizer", "byte"))
    else:
        now = msgspec.structs.replace(held, **{key: other_value(value)})
        told = f"{key} was {value}, is now {getattr(now, key)}"
    assert differences.of_recipes(held, held) == ""
    assert differences.of_recipes(held, now).startswith(told)


def test_a_run_of_another_recipe_is_refused_with_the_setting(tmp_path: Path):
    chosen = recipe(corpus=family.resolve("corpus", "storyworld"))
    (tmp_path / "recipe.toml").write_text(chosen.to_toml())
    assert finished(tmp_path, chosen) is False
    other = msgspec.structs.replace(chosen, position=family.resolve("position", "rope"), clip=2.0)
    rope = "rope (theta = 10000.0, share = 1.0, pairs = 'consecutive')"
    told = f"position was learned, is now {rope}; clip was 1.0, is now 2.0"
    with pytest.raises(ValueError, match="holds a run of another recipe: ") as error:
        finished(tmp_path, other)
    assert told in str(error.value)
    elsewhere = msgspec.structs.replace(
        chosen, corpus=family.resolve("corpus", {"name": "file", "path": "x"})
    )
    assert finished(tmp_path, elsewhere) is False, "the same text from another place is the same recipe"


def test_a_component_s_version_that_changed_since_is_told(
    begun: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
):
    folder, text = begun
    recorded = json.loads((folder / "out/arms/plain/seed-0/environment.json").read_text())
    assert recorded["components"]["norm"] == 1
    real = family.version
    monkeypatch.setattr(family, "version", lambda name, word: 2 if name == "norm" else real(name, word))
    outcome = run(folder, text, "--resume", "--arm", "plain", content=STUDY)
    assert outcome.status == 2
    assert "another recipe: the version of the norm was 1, is now 2; choose another --out" in outcome.err
