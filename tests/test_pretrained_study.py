"""A study with a tokenizer from elsewhere: its recipe says which one, and no other goes on with it."""

import hashlib
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from onechange import differences, family, tokenizer_file
from onechange.recipe import Recipe
from onechange.tokenizer.byte_bpe import ByteBpe
from small_studies import Outcome, in_haste, onechange, study_file

STUDY = """\
question = "What do tokens learned elsewhere buy?"
corpus = { name = "storyworld", characters = 40_000 }
[base]
name = "plain"
tokenizer = "character"
[[arm]]
name = "given"
from = "plain"
change.tokenizer = { name = "pretrained", source = "SOURCE" }
[[arm]]
name = "likely"
from = "plain"
change.tokenizer = { name = "unigram", vocabulary = 120 }
[scale.tiny]
layers = 1
width = 16
window = 16
batch = 4
budget = { steps = 2 }
"""


@pytest.fixture(autouse=True)
def _haste(tmp_path: Path) -> Iterator[None]:
    with in_haste(tmp_path / "cache"):
        yield


def write(path: Path, vocabulary: int) -> None:
    ours = ByteBpe(vocabulary=vocabulary)
    ours.learn(["The sun was warm. The sun was warm and the cat sat."] * 3)
    path.write_text(json.dumps(ours.to_json()), encoding="utf-8")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    write(tmp_path / "theirs.json", 270)
    return tmp_path / "theirs.json"


def run(tmp_path: Path, source: Path, *words: object) -> Outcome:
    study = study_file(tmp_path, STUDY.replace("SOURCE", str(source)))
    return onechange("run", study, "--scale", "tiny", "--out", tmp_path / "out", *words)


def said(outcome: Outcome) -> str:
    assert (outcome.status, outcome.err.count("\n")) == (2, 1), outcome
    return outcome.err


def test_the_run_says_which_file_it_was_and_goes_on_with_no_other(tmp_path: Path, source: Path):
    assert run(tmp_path, source).status == 0
    folder = tmp_path / "out/arms/given/seed-0"
    recipe = Recipe.read(folder / "recipe.toml")
    digest = hashlib.sha256(source.read_bytes()).hexdigest()
    assert recipe.tokenizer == {"name": "pretrained", "source": str(source), "sha256": digest}
    assert tokenizer_file.load(folder).vocabulary_size == 270
    assert tokenizer_file.load(tmp_path / "out/arms/likely/seed-0").vocabulary_size == 120
    before = (folder / "measures.json").read_bytes()

    kept = source.rename(tmp_path / "kept.json")
    assert f"tokenizer.source = '{source}': {source} is no file" in said(run(tmp_path, source, "--resume"))
    write(source, 271)
    changed = hashlib.sha256(source.read_bytes()).hexdigest()
    assert f"tokenizer.sha256 was {digest}, is now {changed}" in said(run(tmp_path, source, "--resume"))
    shutil.copy(kept, source)
    assert run(tmp_path, source, "--resume", "--seeds", "2").status == 0
    assert (folder / "measures.json").read_bytes() == before
    assert Recipe.read(tmp_path / "out/arms/given/seed-1/recipe.toml").tokenizer["sha256"] == digest


def test_a_sample_needs_the_run_s_folder_alone(tmp_path: Path, source: Path):
    assert run(tmp_path, source, "--arm", "given").status == 0
    source.unlink()
    outcome = onechange("sample", tmp_path / "out/arms/given/seed-0", "--prompt", "The sun", "--tokens", "4")
    assert outcome.status == 0, outcome.err


def test_where_it_lies_is_no_part_of_what_a_run_is(tmp_path: Path, source: Path):
    assert run(tmp_path, source, "--arm", "given").status == 0
    recipe = Recipe.read(tmp_path / "out/arms/given/seed-0/recipe.toml")

    def having(**settings: str) -> Recipe:
        return msgspec.structs.replace(recipe, tokenizer={**recipe.tokenizer, **settings})

    assert having(source="elsewhere").identity == recipe.identity
    assert differences.of_recipes(recipe, having(source="elsewhere")) == ""
    assert having(sha256="0" * 64).identity != recipe.identity
    assert "tokenizer.sha256 was" in differences.of_recipes(recipe, having(sha256="0" * 64))
    assert family.determining("tokenizer", recipe.tokenizer) == {
        "name": "pretrained",
        "sha256": recipe.tokenizer["sha256"],
    }
