"""Every verb of the command line: its figures, its one JSON document, and one line for what a person got wrong."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import onechange as onechange_package
from onechange import family, laboratory, mistake
from onechange.checkpoint_reader import read as read_run
from onechange.estimate import UPDATES
from onechange.scale import SCALES
from onechange.study_file import builtin
from onechange.study_file import read as read_study
from onechange.verbs import asking, output
from small_studies import STUDY, Outcome, onechange, study_file

STORIES = [
    f"Tom saw {n} red {'cats' if n % 2 else 'dogs'} in the park. One day, he ran home." for n in range(30)
]


@pytest.fixture(scope="module", autouse=True)
def _alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("COLUMNS", "100")
        patch.setattr(os, "fsync", lambda file: None)
        patch.setenv("PYTHONPATH", str(Path(onechange_package.__file__).parents[1]))
        yield


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("text") / "tales.txt"
    path.write_text("\n<|endoftext|>\n".join(STORIES))
    return path


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory, text: Path) -> Path:
    """A study's folder, page left out."""
    folder = tmp_path_factory.mktemp("study")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(laboratory.report, "write", lambda folder: None)
        outcome = onechange(*words_to_run(folder, text))
    assert outcome.status == 0, outcome.err
    return folder / "out"


@pytest.fixture
def copy(finished: Path, tmp_path: Path) -> Path:
    """A copy of it that may be broken."""
    return Path(shutil.copytree(finished, tmp_path / "copy"))


def words_to_run(folder: Path, text: Path) -> list[object]:
    return ["run", study_file(folder), "--scale", "tiny", "--data", f"file:{text}", "--out", folder / "out"]


def refused(outcome: Outcome, *named: str) -> None:
    """Exit status 2, nothing on standard output, one line on standard error, and it names ``named``."""
    assert outcome.status == 2, outcome
    assert outcome.out == ""
    lines = outcome.err.splitlines()
    assert len(lines) == 1, outcome.err
    assert lines[0].startswith("onechange: ")
    for word in named:
        assert word in lines[0]


# --- what each verb shows -------------------------------------------------------------------------------------------


def test_run_shows_table_and_page_and_json_shows_results(
    tmp_path: Path, text: Path, monkeypatch: Any
) -> None:
    monkeypatch.setattr(laboratory.report, "write", lambda folder: None)
    outcome = onechange(*words_to_run(tmp_path, text), "--arm", "plain")
    assert outcome.status == 0, outcome.err
    assert "nats per character" in outcome.out
    assert "report.html" in outcome.out
    assert "step" in outcome.err, "progress is on standard error"
    again = onechange(*words_to_run(tmp_path, text), "--arm", "plain", "--resume", "--json")
    assert again.document == json.loads((tmp_path / "out/results.json").read_text())
    assert again.document["arms"][0]["runs"][0]["status"] == "finished"


def test_the_default_folder_is_named_after_study_scale_and_corpus(
    tmp_path: Path, text: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(laboratory.report, "write", lambda folder: None)
    monkeypatch.chdir(tmp_path)
    study_file(tmp_path)
    outcome = onechange(
        "run", "small.toml", "--scale", "tiny", "--data", f"file:{text}", "--arm", "plain", "--json"
    )
    assert outcome.status == 0, outcome.err
    assert (tmp_path / "runs/small-tiny-file/results.json").is_file()


def test_a_dry_run_says_what_would_run_and_runs_nothing(tmp_path: Path, text: Path, finished: Path) -> None:
    words = [*words_to_run(tmp_path, text), "--dry-run", "--seeds", 3]
    outcome = onechange(*words)
    assert outcome.status == 0, outcome.err
    for shown in (
        "plain",
        "merged",
        "turned",
        "position: rope",
        "120",
        "3 seeds",
        "Nothing was trained",
    ):
        assert shown in outcome.out
    assert not (tmp_path / "out").exists()
    document = onechange(*words, "--json").document
    results = json.loads((finished / "results.json").read_text())
    assert document["seeds"] == [0, 1, 2]
    assert document["corpus"] == {key: results["corpus"][key] for key in document["corpus"]}
    for planned, done in zip(document["arms"], results["arms"], strict=True):
        assert planned["seconds_per_step"] > 0
        shared = planned.keys() - {"seconds_per_step"}
        assert {key: planned[key] for key in shared} == {key: done[key] for key in shared}
    total = 3 * sum(arm["seconds_per_step"] * arm["steps"] for arm in document["arms"])
    assert document["estimated_seconds"] == pytest.approx(total)


def test_a_dry_run_of_a_study_that_will_fail_still_estimates(tmp_path: Path, text: Path) -> None:
    wild = STUDY.replace("[sampling]", "[scale.wild]\noptimizer = { learning_rate = 1e38 }\n" + "[sampling]")
    wild = wild.replace(
        "[scale.tiny]", "[scale.tiny]\noptimizer = { learning_rate = 1e38 }\nschedule = { warmup = 0 }"
    )
    study_file(tmp_path, wild)
    outcome = onechange(
        "run", tmp_path / "small.toml", "--scale", "tiny", "--data", f"file:{text}", "--dry-run"
    )
    assert outcome.status == 0, outcome.err
    assert UPDATES > 1


def test_list_shows_what_there_is() -> None:
    families = onechange("list", "--json").document
    assert {row["family"]: row["members"] for row in families} == {
        name: family.members(name) for name in family.FAMILIES
    }
    for name in family.FAMILIES:
        rows = onechange("list", name, "--json").document
        assert [row[name] for row in rows] == family.members(name)
        assert all(row["what it is"].endswith(".") for row in rows)
        shown = onechange("list", name).out
        assert all(member in shown for member in family.members(name))
    studies = onechange("list", "studies", "--json").document
    assert [row["study"] for row in studies] == list(builtin())
    arms = {row["study"]: row["arms"] for row in studies}
    assert arms["tokenizers-and-positions"] == ["char-wpe", "bpe-wpe", "bpe-rope"]
    assert "tokenizers-and-positions" in onechange("list", "studies").out


def test_a_member_s_list_fits_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output.out, "_width", 40)  # the console of this process was made for another terminal
    shown = onechange("list", "position").out
    assert max(map(len, shown.splitlines())) <= 40
    words = " ".join(shown.split())
    assert "theta = 10000.0" in words and "queries and keys are turned" in words
    assert "source Su et al. 2021 (RoFormer)," in words


def test_list_says_which_settings_must_be_given_and_shows_text_as_text() -> None:
    (file,) = [row for row in onechange("list", "corpus", "--json").document if row["corpus"] == "file"]
    assert file["settings"]["path"] == "(must be given)"
    assert file["settings"]["separator"] == "\n\n"
    shown = onechange("list", "corpus").out
    assert "must be given" in " ".join(shown.split())
    assert r'"\n\n"' in shown


def test_list_scales_has_a_column_for_each() -> None:
    assert [row["scale"] for row in onechange("list", "scales", "--json").document] == list(SCALES)
    lines = onechange("list", "scales").out.splitlines()
    assert lines[0].split() == ["scale", *SCALES]
    (window,) = [line.split() for line in lines if line.startswith("window")]
    assert window == ["window", "32", "128", "512", "1024"]


def test_new_writes_a_study_that_runs(tmp_path: Path, text: Path) -> None:
    file = tmp_path / "mine.toml"
    outcome = onechange("new", file)
    assert outcome.status == 0
    assert str(file) in outcome.out
    content = file.read_text()
    assert content.count("\n#") > 8, "it explains itself"
    arms = read_study(file).arm_names
    document = onechange(
        "run", file, "--scale", "tiny", "--data", f"file:{text}", "--dry-run", "--json"
    ).document
    assert [arm["name"] for arm in document["arms"]] == arms
    refused(onechange("new", file), str(file), "exists already")
    assert file.read_text() == content
    refused(onechange("new", tmp_path / "mine.txt"), ".toml")
    refused(onechange("new", tmp_path / "nowhere/mine.toml"), "nowhere")


FIGURES = ("step", "nats", "nats_per_character", "bits_per_byte", "nats_per_token", "low", "high")


def test_measure_repeats_the_study_s_figures(finished: Path) -> None:
    for arm in json.loads((finished / "results.json").read_text())["arms"]:
        folder = finished / f"arms/{arm['name']}/seed-0"
        for which in ("best", "last"):
            document = onechange("measure", folder, "--checkpoint", which, "--json").document
            kept = arm["runs"][0][which]
            assert {key: document[key] for key in FIGURES} == {key: kept[key] for key in FIGURES}
        shown = onechange("measure", folder).out
        assert f"{arm['runs'][0]['best']['nats_per_character']:.4f} nats per character" in shown


def test_measure_takes_all_of_another_text(finished: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.txt"
    other.write_text("Tom saw the dog.\n<|endoftext|>\nOne day, he ran home.")
    words = ["measure", finished / "arms/plain/seed-0", "--data", f"file:{other}"]
    document = onechange(*words, "--json").document
    assert document["characters"] == document["tokens"] == 16 + 2 + 21 + 2
    shown = " ".join(onechange(*words).out.split())  # the terminal breaks lines where the path is long
    assert "2 stories, 41 characters" in shown
    assert "punctuation" in shown and "digits" not in shown, "only kinds that the text has"
    kinds = document["readings"]["by_kind"].values()
    assert sum(kind["characters"] for kind in kinds) == 41
    assert sum(kind["nats"] for kind in kinds) == pytest.approx(document["nats"], rel=1e-12)


def test_report_writes_everything_anew(copy: Path) -> None:
    before = json.loads((copy / "results.json").read_text())
    (copy / "results.json").write_text("rubbish")
    outcome = onechange("report", copy)
    assert outcome.status == 0, outcome.err
    assert json.loads((copy / "results.json").read_text()) == before
    assert (copy / "report.html").is_file()
    assert (copy / "report.md").is_file()
    assert "turned" in outcome.out
    assert onechange("report", copy, "--json").document == before


def test_the_page_of_a_study_that_is_not_finished_says_so(copy: Path) -> None:
    """One run finished, one failed, one not yet begun."""
    for path in sorted((copy / "arms/turned/seed-0").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    (copy / "arms/merged/seed-0/measures.json").unlink()
    (copy / "arms/merged/seed-0/failure.json").write_text('{"error": "the training loss at step 7 is nan"}')
    outcome = onechange("report", copy)
    assert outcome.status == 0, outcome.err
    results = json.loads((copy / "results.json").read_text())
    assert results["status"] == "unfinished"
    assert [arm["runs"][0]["status"] for arm in results["arms"]] == ["finished", "failed", "missing"]
    page = (copy / "report.html").read_text()
    assert "the training loss at step 7 is nan" in page


def test_corpus_describe_uses_the_keys_of_results(text: Path, finished: Path, tmp_path: Path) -> None:
    document = onechange("corpus", "describe", f"file:{text}", "--json").document
    results = json.loads((finished / "results.json").read_text())
    assert document["documents"] == 30
    assert document["characters"] == sum(map(len, STORIES))
    assert {key: document[key] for key in results["corpus"]} == results["corpus"]
    assert document["entropy_floor"] is results["entropy_floor"] is None
    shown = onechange("corpus", "describe", f"file:{text}").out
    assert f"{sum(map(len, STORIES)):,}" in shown
    odd = tmp_path / "[/b] [c].txt"
    odd.parent.mkdir(parents=True)
    odd.write_bytes(b"One line.\r\nTwo lines.")
    outcome = onechange("corpus", "describe", f"file:{odd}")
    assert outcome.status == 0, outcome.err
    shown = re.sub(r"\s", "", outcome.out)
    assert shown.count("[/b][c].txt") == 2, "its path, and the note on its line ends"


def test_tokenizer_show_splits_a_text(finished: Path, text: Path) -> None:
    run = finished / "arms/merged/seed-0"
    words = ["tokenizer", "show", run, "--text", "Tom saw cats."]
    document = onechange(*words, "--json").document
    assert "".join(document["tokens"]) == "Tom saw cats."
    assert document["ids"] == read_run(run, "best").tokenizer.encode("Tom saw cats.").tolist()
    assert (
        document["vocabulary"] == json.loads((finished / "results.json").read_text())["arms"][1]["vocabulary"]
    )
    assert "│".join(document["tokens"]).replace(" ", "·") in onechange(*words).out
    learned = onechange(
        "tokenizer", "show", "character", "--data", f"file:{text}", "--text", "Tom", "--json"
    ).document
    assert learned["tokens"] == ["T", "o", "m"]
    empty = onechange("tokenizer", "show", run, "--text", "", "--json").document
    assert empty["tokens"] == []


def test_doctor_says_what_a_run_would_use() -> None:
    document = onechange("doctor", "--json").document
    assert document.keys() >= {"precision", "threads", "can_compile", "why_not_compile", "torch", "processor"}
    assert document["precision"] in ("bf16", "float32")
    assert (document["why_not_compile"] is None) == document["can_compile"]
    shown = onechange("doctor").out
    assert document["torch"] in shown
    assert document["processor"] in shown


VERBS = (
    [],
    ["run"],
    ["list"],
    ["new"],
    ["sample"],
    ["measure"],
    ["report"],
    ["doctor"],
    ["corpus"],
    ["corpus", "describe"],
    ["tokenizer"],
    ["tokenizer", "show"],
    ["tokenizer", "learn"],
    ["tokenizer", "compare"],
)


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_help_reads_well(verb: list[str]) -> None:
    outcome = onechange(*verb, "--help")
    assert outcome.status == 0
    assert outcome.err == ""
    assert re.search(r"^ ?Usage: ", outcome.out, re.MULTILINE)
    assert "Traceback" not in outcome.out


def test_help_names_the_defaults() -> None:
    said = " ".join(re.sub(r"[│╭╮╰╯─]", " ", onechange("run", "--help").out).split())
    assert "Default: tokenizers-and-positions" in said
    assert "Default: quick" in said
    assert "Default: runs/<study>-<scale>-<corpus>" in said
    assert "Default: 1" in said
    said = " ".join(re.sub(r"[│╭╮╰╯─]", " ", onechange("sample", "--help").out).split())
    for default in ("42", "0.7", "30", "best"):
        assert f"[default: {default}]" in said
    assert "Default: 800" in said


# --- what a person gets wrong ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("nonsense", ["nonsense"]),
        ("run --nonsense", ["--nonsense"]),
        ("run one two", ["two"]),
        ("sample --tokens five RUN", ["--tokens", "int"]),
        ("sample", ["RUN"]),
        ("new", ["FILE"]),
        ("run nowhere", ["nowhere", "tokenizers-and-positions"]),
        ("run nowhere.toml", ["nowhere.toml"]),
        ("run --scale huge --data storyworld", ["huge", "tiny, quick, full"]),
        ("run --data nowhere", ["nowhere", "storyworld", "file:PATH"]),
        ("run --data file:nowhere.txt", ["nowhere.txt"]),
        ("run --data file:", ["file:", "PATH"]),
        ("run --data storyworld:here", ["storyworld"]),
        ("run --seeds 0", ["'0'", "1 to 1000"]),
        ("run --seeds -1", ["'-1'"]),
        ("run --seeds two", ["'two'"]),
        ("run --seeds 1,1", ["'1,1'"]),
        ("run --seeds ,", ["','"]),
        ("run --seeds 3,-1", ["'3,-1'"]),
        ("run --seeds 1.5", ["'1.5'"]),
        ("run --arm nobody", ["nobody", "char-wpe, bpe-wpe, bpe-rope"]),
        ("list nonsense", ["nonsense", "studies", "position"]),
        ("measure nowhere", ["nowhere", "recipe.toml"]),
        ("sample nowhere", ["nowhere", "recipe.toml"]),
        ("sample nowhere --checkpoint middle", ["middle", "best, last"]),
        ("report nowhere", ["nowhere"]),
        ("corpus describe nowhere", ["nowhere", "storyworld"]),
        ("corpus describe file:nowhere.txt", ["nowhere.txt"]),
        ("tokenizer show nowhere", ["nowhere", "bpe, byte"]),
        ("tokenizer show bpe:vocab=5", ["vocab", "vocabulary"]),
        ("tokenizer show bpe --data nowhere", ["nowhere", "storyworld"]),
        ("tokenizer learn bpe:vocabulary=90,100 --out here", ["2 tokenizers"]),
        ("tokenizer learn bpe", ["--out"]),
        ("tokenizer compare", ["WHAT"]),
        ("tokenizer compare character --page nowhere/page.html", ["nowhere/page.html", "--page"]),
    ],
)
def test_wrong_words_are_one_line(
    words: str, named: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    refused(onechange(*words.split()), *named)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["--tokens", "0"], "tokens = 0"),
        (["--tokens", "-3"], "tokens = -3"),
        (["--top-k", "0"], "top_k = 0"),
        (["--temperature", "nan"], "temperature = nan"),
        (["--temperature", "-1"], "temperature = -1"),
        (["--temperature", "inf"], "temperature = inf"),
        (["--top-p", "0"], "top_p = 0"),
        (["--min-p", "2"], "min_p = 2"),
        (["--repetition-penalty", "0"], "repetition_penalty = 0"),
        (["--samples", "0"], "samples = 0"),
        (["--stop", ""], 'stop: "" is empty'),
        (["--tokens", "5", "--characters", "9"], "tokens = 5 and characters = 9"),
        (["--checkpoint", "step-5"], "keeps no checkpoint of step 5; there is step-6"),
        (["--prompt", "Zoë"], "'ë' (U+00EB) at 2"),
        (["--prompt", "a\udcffb"], "U+DCFF"),
    ],
)
def test_wrong_samples_are_one_line(finished: Path, words: list[str], named: str) -> None:
    if "--prompt" not in words:
        words = [*words, "--prompt", "Tom"]
    refused(onechange("sample", finished / "arms/plain/seed-0", *words), named)


def test_the_sentence_taken_where_none_is_given_may_not_fit(finished: Path) -> None:
    """The text here lacks its letters: the message says how to give another."""
    refused(onechange("sample", finished / "arms/plain/seed-0"), "--prompt", "'L' (U+004C)")
    refused(onechange("tokenizer", "show", finished / "arms/plain/seed-0"), "--text", "'L' (U+004C)")


def test_an_unfinished_run_has_nothing_to_sample(copy: Path) -> None:
    shutil.rmtree(copy / "arms/plain/seed-0/checkpoints")
    refused(onechange("sample", copy / "arms/plain/seed-0", "--prompt", "Tom"), "no checkpoint yet")
    refused(onechange("measure", copy / "arms/plain/seed-0"), "no checkpoint yet")


def test_a_study_s_folder_is_no_run(finished: Path) -> None:
    refused(onechange("measure", finished), str(finished), "OUT/arms/ARM/seed-N")
    refused(onechange("report", finished / "arms"), "holds no study")


def wrong_study(folder: Path, content: bytes) -> Outcome:
    (folder / "wrong.toml").write_bytes(content)
    return onechange("run", folder / "wrong.toml", "--data", "storyworld", "--scale", "tiny")


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (b"", ["question"]),
        (b"\xff\xfe", ["UTF-8"]),
        (b"question = ", ["TOML"]),
        (b'question = "?"', ["base"]),
        (b'question = "?"\nfoo = 1\n[base]\nname = "a"', ["foo"]),
        (b'question = 1\n[base]\nname = "a"', ["question"]),
        (b'question = "?"\nbase = 3', ["base"]),
        (b'question = "?"\n[base]\nname = "a"\nposition = "nonsense"', ["nonsense", "rope"]),
        (b'question = "?"\n[base]\nname = "a"\nposition = { name = "rope", theta = nan }', ["theta", "nan"]),
        (b'question = "?"\n[base]\nname = "a"\nposition = { name = "rope", theta = "x" }', ["theta"]),
        (
            b'question = "?"\n[base]\nname = "a"\n[[arm]]\nname = "b"\nfrom = "a"\nchange.width = 2.5',
            ["width"],
        ),
        (
            b'question = "?"\n[base]\nname = "a"\n[[arm]]\nname = "b"\nfrom = "a"\nchange.width = 8\nchange.heads = 2',
            ["'b'", "width, heads", "exactly one"],
        ),
        (
            b'question = "?"\n[base]\nname = "a"\n[[arm]]\nname = "b"\nfrom = "a"\nchange = {}',
            ["'b'", "exactly one"],
        ),
        (
            b'question = "?"\n[base]\nname = "a"\n[[arm]]\nname = "b"\nfrom = "a"\nchange.position = "learned"',
            ["'b'", "nothing"],
        ),
        (b'question = "?"\n[base]\nname = "a"\n[scale.tiny]\nbudget = { steps = 0 }', ["budget", "steps"]),
        (b'question = "?"\n[base]\nname = "../a"', ["../a"]),
    ],
)
def test_a_wrong_study_file_is_one_line_that_names_it(
    tmp_path: Path, content: bytes, named: list[str]
) -> None:
    refused(wrong_study(tmp_path, content), *named)


def test_the_file_s_name_stands_before_what_is_wrong_in_it(tmp_path: Path) -> None:
    refused(wrong_study(tmp_path, b"\xff"), str(tmp_path / "wrong.toml"))


@pytest.mark.parametrize("out", ["a file", "below a file"])
def test_out_must_be_a_folder(tmp_path: Path, text: Path, out: str) -> None:
    (tmp_path / "file").write_text("")
    path = tmp_path / ("file" if out == "a file" else "file/out")
    refused(
        onechange("run", "--data", f"file:{text}", "--scale", "tiny", "--out", path), str(tmp_path / "file")
    )
    assert (tmp_path / "file").read_text() == ""


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"null", b"[]", b'"text"', b"\xff\xfe\x00", b"step = 1\n", b'{"step": "six"}', b"\x00" * 100],
)
@pytest.mark.parametrize(
    "name",
    ["recipe.toml", "tokenizer.json", "checkpoints/best.json", "checkpoints/step-000006/model.safetensors"],
)
def test_a_broken_file_of_a_run_is_one_line_that_names_it(
    finished: Path, tmp_path: Path, name: str, content: bytes
) -> None:
    run = tmp_path / "seed-0"
    shutil.copytree(finished / "arms/plain/seed-0", run)
    (run / name).write_bytes(content)
    refused(onechange("sample", run, "--prompt", "Tom"), Path(name).name)
    refused(onechange("measure", run), Path(name).name)


def test_a_recipe_whose_family_is_no_table(copy: Path) -> None:
    path = copy / "arms/plain/seed-0/recipe.toml"
    content = re.sub(r"\[position\]\nname = \"learned\"\n", "", path.read_text())
    for wrong in ("position = 5\n", "position = []\n", "position = true\n"):
        path.write_text(wrong + content)
        refused(onechange("sample", path.parent, "--prompt", "Tom"), "recipe.toml", "position")


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.999])
def test_truncated_weights_are_one_line(copy: Path, share: float) -> None:
    path = copy / "arms/plain/seed-0/checkpoints/step-000006/model.safetensors"
    path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
    refused(onechange("measure", path.parents[2]), "model.safetensors")


def test_missing_weights_are_one_line(copy: Path) -> None:
    path = copy / "arms/plain/seed-0/checkpoints/step-000006/model.safetensors"
    path.unlink()
    refused(onechange("measure", path.parents[2]), "model.safetensors")


def test_weights_of_another_model_are_one_line(copy: Path) -> None:
    mine, other = (
        copy / f"arms/{arm}/seed-0/checkpoints/step-000006/model.safetensors" for arm in ("plain", "turned")
    )
    shutil.copy(other, mine)
    refused(onechange("measure", mine.parents[2]), "model.safetensors is damaged")
    shutil.rmtree(mine.parents[1])
    shutil.copytree(other.parents[1], mine.parents[1])
    refused(onechange("measure", mine.parents[2]), "model.safetensors", "not this recipe's", "position")


@pytest.mark.parametrize("content", [b"", b"null", b"\xff", b'{"a": 1}'])
@pytest.mark.parametrize(
    "name",
    ["start.json", "corpus.json", "study.toml", "arms/plain/arm.json", "arms/plain/seed-0/measures.json",
     "arms/plain/seed-0/metrics.jsonl", "arms/plain/seed-0/timing.jsonl", "arms/plain/seed-0/environment.json"],
)  # fmt: skip
def test_a_broken_file_of_a_study_is_one_line_that_names_it(copy: Path, name: str, content: bytes) -> None:
    (copy / name).write_bytes(content + b"\n")
    refused(onechange("report", copy), Path(name).name)


@pytest.mark.parametrize("content", [b"", b"{", b"null", b"[1]", b"\xff"])
@pytest.mark.parametrize(
    ("name", "from_where"), [("checkpoints/last.json", "from step 6"), ("metrics.jsonl", "from the start")]
)
def test_resuming_with_a_broken_pointer_or_history_goes_on_and_says_so(
    copy: Path, finished: Path, name: str, from_where: str, content: bytes
) -> None:
    run = copy / "arms/turned/seed-0"
    (run / "measures.json").unlink()
    (run / name).write_bytes(content + b"\n")
    outcome = onechange("run", "--out", copy, "--resume")
    assert outcome.status == 0, outcome.err
    (told,) = [line for line in outcome.err.splitlines() if "damaged" in line]
    assert f"{run / name} is damaged: " in told
    assert told.endswith(f"going on {from_where}")
    assert (run / "checkpoints/damaged" / Path(name).name).read_bytes() == content + b"\n"
    whole = finished / "arms/turned/seed-0"
    for file in ("metrics.jsonl", "measures.json", "checkpoints/last.json", "samples/last.jsonl"):
        assert (run / file).read_bytes() == (whole / file).read_bytes()


@pytest.mark.parametrize("content", ["", "\n\n", "a", "\ufeff"])
def test_texts_too_short_to_learn_from_are_one_line(tmp_path: Path, content: str) -> None:
    path = tmp_path / "short.txt"
    path.write_text(content)
    refused(onechange("corpus", "describe", f"file:{path}"), "short.txt")
    refused(
        onechange("run", "--data", f"file:{path}", "--scale", "tiny", "--out", tmp_path / "out"), "short.txt"
    )
    assert not (tmp_path / "out").exists()


def test_a_text_of_a_few_characters_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorter than a window, validation text of one character: everything still ends in figures."""
    monkeypatch.setattr(laboratory.report, "write", lambda folder: None)
    path = tmp_path / "short.txt"
    path.write_text("ab")
    outcome = onechange(*words_to_run(tmp_path, path), "--json")
    assert outcome.status == 0, outcome.err
    for arm in outcome.document["arms"]:
        assert arm["runs"][0]["best"]["characters"] == 3
        assert arm["runs"][0]["best"]["low"] is None


def test_measure_refuses_text_with_other_characters(finished: Path, tmp_path: Path) -> None:
    path = tmp_path / "other.txt"
    path.write_text("Zoë and Max. " * 9)
    refused(onechange("measure", finished / "arms/plain/seed-0", "--data", f"file:{path}"), "'Z' (U+005A)")


def test_measure_refuses_a_corpus_that_changed(
    tmp_path: Path, text: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(laboratory.report, "write", lambda folder: None)
    own = tmp_path / "own.txt"
    shutil.copy(text, own)
    assert onechange(*words_to_run(tmp_path, own), "--arm", "plain").status == 0
    own.write_text(own.read_text() + " Another end.")
    refused(onechange("measure", tmp_path / "out/arms/plain/seed-0"), "--data")


def test_output_that_the_terminal_s_encoding_lacks_is_said_in_words() -> None:
    error = UnicodeEncodeError("ascii", "one → two", 4, 5, "ordinal not in range(128)")
    assert "'ascii' codec can't encode character" in mistake.sentence(error)


@pytest.mark.parametrize(
    ("word", "numbers"), [("1", [0]), ("5", [0, 1, 2, 3, 4]), ("3,5", [3, 5]), ("7,", [7]), ("2, 0", [2, 0])]
)
def test_seeds_are_a_number_or_a_list(word: str, numbers: list[int]) -> None:
    assert asking.seeds(word) == numbers


# --- in a process of its own ----------------------------------------------------------------------------------------


def as_process(*words: object, **settings: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "onechange", *map(str, words)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        **settings,
    )


def test_python_m_onechange_is_the_same_command() -> None:
    done = as_process("list", "position", "--json")
    assert done.returncode == 0
    assert [row["position"] for row in json.loads(done.stdout)] == family.members("position")
    assert done.stderr == ""
    wrong = as_process("list", "nonsense")
    assert wrong.returncode == 2
    assert wrong.stderr.count("\n") == 1


def test_a_reader_that_leaves_is_no_error() -> None:
    writer = subprocess.Popen(
        [sys.executable, "-m", "onechange", "list", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert writer.stdout and writer.stderr
    writer.stdout.close()
    assert writer.stderr.read() == ""
    writer.stderr.close()
    assert writer.wait(60) in (1, 141)


def test_ctrl_c_says_how_to_go_on(tmp_path: Path, text: Path) -> None:
    long = STUDY.replace("budget = { steps = 6 }", "budget = { steps = 100000 }")
    study_file(tmp_path, long)
    words = ["run", "small.toml", "--scale", "tiny", "--data", f"file:{text}", "--out", "out"]
    running_ = subprocess.Popen(
        [sys.executable, "-m", "onechange", *words],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Started in the background the tests themselves may have been told to ignore Ctrl-C, which children inherit.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    pointer = tmp_path / "out/arms/plain/seed-0/checkpoints/last.json"
    for _ in range(3000):
        if pointer.exists() or running_.poll() is not None:
            break
        time.sleep(0.1)
    running_.send_signal(signal.SIGINT)
    out, err = running_.communicate(timeout=60)
    assert running_.returncode == 130
    assert out == ""
    assert "--resume" in err.splitlines()[-1]
    assert "Traceback" not in err
