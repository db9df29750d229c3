"""Members that are files: what a run keeps of them, what is refused, and that no folder's code is executed unasked."""

import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from onechange import family, outside, study_file
from onechange.outside import Code, Declared
from onechange.recipe import Recipe
from own_members import MARK, NORM, SCHEDULE, as_in_a_new_process, executed, marking, refused, run, written
from small_studies import files, onechange

DIGEST = hashlib.sha256(NORM.encode()).hexdigest()


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    place = tmp_path_factory.mktemp("cache")
    with marking(place):
        yield place


@pytest.fixture(autouse=True)
def new_process(cache: Path) -> Iterator[None]:
    (cache / MARK).unlink(missing_ok=True)
    as_in_a_new_process()
    yield
    as_in_a_new_process()


@pytest.fixture(scope="module")
def trained(cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the study, its file, and what came of it in ``out``."""
    as_in_a_new_process()
    folder = tmp_path_factory.mktemp("trained")
    found = run(written(folder), folder / "out")
    assert found.status == 0, found.err
    return folder


@pytest.fixture
def copy(trained: Path, tmp_path: Path) -> Path:
    """The same, to be spoilt."""
    return Path(shutil.copytree(trained, tmp_path / "copy"))


def one_run(folder: Path) -> Path:
    return folder / "out/arms/mine/seed-0"


# What a run holds


def test_a_run_keeps_its_code_and_names_it_without_a_path(trained: Path):
    found = one_run(trained)
    assert (found / "components/norm/mine.py").read_bytes() == NORM.encode()
    assert Recipe.read(found / "recipe.toml").norm == {"name": "mine.py", "epsilon": 0.5}
    environment = json.loads((found / "environment.json").read_text())
    assert environment["components"]["norm"] == f"sha256 {DIGEST}"
    assert environment["components"]["mlp"] == family.version("mlp", "gelu")
    for name in ("recipe.toml", "environment.json"):
        assert "parts" not in (found / name).read_text()
    assert not (trained / "out/arms/plain/seed-0/components").exists()
    arms = json.loads((trained / "out/results.json").read_text())["arms"]
    assert [(arm["name"], arm["change"]) for arm in arms] == [
        ("plain", None),
        ("mine", {"norm": "mine.py"}),
        ("wide-2", {"norm": {"name": "mine.py", "epsilon": 2.0}}),
    ]


def test_other_content_is_another_identity(trained: Path):
    recipe = Recipe.read(one_run(trained) / "recipe.toml")
    outside.execute([Code("norm", "mine.py", NORM)])
    first = recipe.identity
    outside.execute([Code("norm", "mine.py", NORM + "# no other number\n")])
    assert recipe.identity != first
    outside.execute([Code("norm", "mine.py", NORM)])
    recorded = json.loads((one_run(trained) / "environment.json").read_text())["identity"]
    assert recipe.identity == first == recorded


def test_what_ran_is_what_is_recorded_though_the_file_changes_under_it(tmp_path: Path, cache: Path):
    study = written(tmp_path)
    study_file.load(study)
    other = NORM.replace("self.gain * x", "0.0 * self.gain * x")
    (tmp_path / "parts/mine.py").write_text(other)
    assert family.version("norm", "mine.py") == f"sha256 {DIGEST}"
    first = family.member("norm", "mine.py")
    study_file.load(study)
    assert family.member("norm", "mine.py") is not first
    assert family.version("norm", "mine.py") == f"sha256 {hashlib.sha256(other.encode()).hexdigest()}"
    assert executed(cache) == 2
    study_file.load(study)
    assert executed(cache) == 2  # the same content again


@pytest.mark.long
@pytest.mark.parametrize("how", [("--jobs", "2"), ("--processes", "2"), ("--cluster", "local")])
def test_other_processes_are_given_the_text(trained: Path, tmp_path: Path, how: tuple[str, str]):
    words = ["run", str(written(tmp_path)), "--scale", "tiny", "--out", str(tmp_path / "out"), *how]
    found = subprocess.run([sys.executable, "-m", "onechange", *words], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    ours, theirs = (one_run(folder) for folder in (tmp_path, trained))
    names = ("recipe.toml", "components/norm/mine.py")
    assert [(ours / name).read_bytes() for name in names] == [(theirs / name).read_bytes() for name in names]
    if how[0] != "--processes":  # gradients are added up in another order there
        assert files(tmp_path / "out/arms") == files(trained / "out/arms")


# Reading back


READING: list[list[Any]] = [
    ["report", "out"],
    ["status", "out"],
    ["plan", "out"],
    ["compare", "out/arms/plain", "out/arms/mine"],
]


@pytest.mark.parametrize("words", READING, ids=lambda words: words[0])
def test_reading_needs_no_code_and_executes_none(copy: Path, cache: Path, words: list[Any]):
    for file in copy.rglob("mine.py"):
        file.unlink()
    before = json.loads((copy / "out/results.json").read_text())
    found = onechange(words[0], *(copy / word for word in words[1:]), "--json")
    assert (found.status, executed(cache)) == (0, 0), found.err
    if words[0] == "report":  # a sweep's value at which the parent stands is told by the default
        assert [arm["name"] for arm in found.document["arms"]] == ["plain", "mine", "wide-2"]
        assert found.document == before
    if words[0] == "compare":
        laws = {law["number"]: law for law in found.document["comparisons"][0]["laws"]}
        assert laws[1]["state"] == "holds" and laws[1]["reason"].endswith("→ mine.py (epsilon = 0.5)")
        assert laws[8]["state"] == "does not hold" and "components/norm/mine.py" in laws[8]["reason"]


def test_two_contents_under_one_name_are_a_change_and_the_laws_tell(trained: Path, copy: Path, cache: Path):
    path = one_run(copy) / "environment.json"
    path.write_text(path.read_text().replace(DIGEST, "0" * 64))
    (law, *_) = onechange("compare", one_run(trained), one_run(copy), "--json").document["comparisons"][0][
        "laws"
    ]
    assert law["reason"] == f"norm, version: sha256 {DIGEST[:12]}… → sha256 000000000000…"
    assert executed(cache) == 0


@pytest.mark.parametrize("verb", ["sample", "measure"])
def test_a_model_is_built_only_of_code_that_is_trusted(trained: Path, cache: Path, verb: str):
    found = one_run(trained)
    refused(onechange(verb, found), found, "components/norm/mine.py", "read", "--trust")
    assert executed(cache) == 0
    told = onechange(verb, found, "--trust", "--json")
    assert (told.status, executed(cache)) == (0, 1), told.err
    if verb == "measure":
        held = json.loads((found / "measures.json").read_text())["best"]
        assert told.document["nats_per_character"] == held["nats_per_character"]
    assert onechange("sample", trained / "out/arms/plain/seed-0").status == 0  # needs none


def test_a_run_without_files_needs_no_trust(trained: Path, cache: Path):
    assert onechange("sample", trained / "out/arms/plain/seed-0").status == 0
    assert executed(cache) == 0


def test_altered_code_is_not_executed_even_with_trust(copy: Path, cache: Path):
    kept = one_run(copy) / "components/norm/mine.py"
    kept.write_text(NORM + "# more\n")
    refused(onechange("sample", one_run(copy), "--trust"), kept, "SHA-256", DIGEST[:12])
    kept.unlink()
    refused(onechange("sample", one_run(copy), "--trust"), "no such file", kept)
    kept.write_text(NORM)
    (one_run(copy) / "environment.json").unlink()
    refused(onechange("sample", one_run(copy), "--trust"), kept, "environment.json says none")
    assert executed(cache) == 0


def test_code_executed_for_another_version_is_not_taken_for_a_run_s(trained: Path, cache: Path):
    outside.execute([Code("norm", "mine.py", NORM.replace("self.gain * x", "2 * self.gain * x"))])
    refused(onechange("sample", one_run(trained)), "--trust")
    assert onechange("report", trained / "out", "--json").status == 0
    assert not family.is_here("norm", "mine.py")  # the folder is of another version: its own is not here


@pytest.mark.parametrize("name", ["../mine.py", "/etc/mine.py", "a/b.py", ".mine.py", "a\\b.py"])
def test_a_recipe_s_name_leads_nowhere_else(copy: Path, name: str):
    path = one_run(copy) / "recipe.toml"
    path.write_text(path.read_text().replace('"mine.py"', json.dumps(name)))
    refused(onechange("sample", one_run(copy), "--trust"), "recipe.toml", "without a folder")


def test_a_recipe_s_settings_are_checked_before_a_model_is_built(copy: Path):
    path = one_run(copy) / "recipe.toml"
    path.write_text(path.read_text().replace("epsilon = 0.5", 'epsilon = "much"'))
    refused(onechange("sample", one_run(copy), "--trust"), "norm.epsilon = 'much': must be a number")


def test_whether_an_unknown_schedule_had_come_down_is_said_to_be_unknown(tmp_path: Path):
    arms = '\n[[arm]]\nname = "half"\nfrom = "plain"\nchange.schedule = "half.py"\n'
    study = written(tmp_path, arms=arms)
    (tmp_path / "half.py").write_text(SCHEDULE)
    assert run(study, tmp_path / "out").status == 0

    def reading() -> dict[str, Any]:
        return json.loads((tmp_path / "out/results.json").read_text())["arms"][1]["at_equal"]["steps"]

    known = reading()
    as_in_a_new_process()
    assert onechange("report", tmp_path / "out").status == 0
    told = reading()
    assert known["fair"] and known["why"] is None and not told["fair"]
    assert "the learning rate of half has come down there is not known" in told["why"]
    assert told["nats_per_character_difference"] == known["nats_per_character_difference"]


# Going on


def test_a_resume_with_an_edited_file_is_refused(copy: Path, cache: Path):
    study, out = copy / "own.toml", copy / "out"
    same = run(study, out, "--resume", "--json")
    assert same.status == 0 and executed(cache) == 1
    (copy / "parts/mine.py").write_text(NORM + "# more\n")
    for more in ([], ["--seeds", 2], ["--arm", "plain", "--seeds", "7,8"]):
        refused(run(study, out, "--resume", *more), out, "norm 'mine.py'", "has changed", DIGEST[:12])
    as_in_a_new_process()
    (out / "start.json").write_text((out / "start.json").read_text().replace(DIGEST, "0" * 64))
    refused(run(study, out, "--resume"), "has changed", "000000000000")


def test_a_run_of_other_code_is_refused_where_the_study_does_not_tell(copy: Path):
    path = one_run(copy) / "environment.json"
    path.write_text(path.read_text().replace(DIGEST, "0" * 64))
    found = run(copy / "own.toml", copy / "out", "--resume")
    assert found.status == 2 and found.err.splitlines()[-1] == (
        f"onechange: {one_run(copy)} holds a run of another recipe: the code of the norm has changed "
        f"(its SHA-256 was 000000000000…, is now {DIGEST[:12]}…); choose another --out"
    )


def test_a_resume_executes_nothing_of_the_folder(copy: Path, cache: Path):
    shutil.copy(copy / "parts/mine.py", copy / "out/mine.py")
    (copy / "out/parts").mkdir()
    shutil.copy(copy / "parts/mine.py", copy / "out/parts/mine.py")
    refused(onechange("run", "--out", copy / "out", "--resume"), copy / "out", "norm 'mine.py'", "STUDY")
    assert executed(cache) == 0


# Without the code


def test_what_is_declared_is_known_and_cannot_be_built():
    assert family.resolve("norm", {"name": "mine.py", "epsilon": 2.0}) == {"name": "mine.py", "epsilon": 2.0}
    outside.declare([Declared("norm", "mine.py", f"sha256 {DIGEST}", {"epsilon": 0.5})])
    assert family.resolve("norm", "mine.py") == {"name": "mine.py", "epsilon": 0.5}
    assert family.version("norm", "mine.py") == f"sha256 {DIGEST}"
    with pytest.raises(LookupError, match=r"norm 'mine\.py' is a file outside of onechange, and nothing has"):
        family.build("norm", {"name": "mine.py"}, None)


def test_a_declaration_cannot_take_the_place_of_a_member_inside():
    outside.declare([Declared("norm", "layer", "nonsense 1.0, version 1", {"x": 1})])
    assert "x" not in family.resolve("norm", "layer")
    assert family.version("norm", "layer") == 1
