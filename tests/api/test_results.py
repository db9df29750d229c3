"""Results hold what stands in the study's files, whatever those say."""

import json
from pathlib import Path
from statistics import fmean, stdev

import pytest

from onechange import Results, load_results
from onechange.report import read


def test_the_record_is_the_file(results: Results):
    file = json.loads((results.folder / "results.json").read_text("utf-8"))
    assert json.loads(json.dumps(results.record)) == file
    assert results.question == file["question"] and results.finished
    assert results.judged_on == "validation"


def test_an_arms_figures_are_the_means_of_its_runs(results: Results):
    for arm in results.arms:
        figures = [
            json.loads((results.folder / f"arms/{arm['arm']}/seed-{seed}/measures.json").read_text())["best"][
                "nats_per_character"
            ]
            for seed in range(3)
        ]
        assert arm["nats_per_character"] == pytest.approx(fmean(figures), rel=1e-12)
        assert arm["spread"] == pytest.approx(stdev(figures), rel=1e-9)
        assert arm["low"] < arm["nats_per_character"] < arm["high"] and arm["seeds"] == 3
        assert results.runs.where(arm=arm["arm"])["nats_per_character"] == figures
    assert results.arms["from"] == [None, "plain", "merged"]
    assert results.arms["change"] == [
        None,
        "tokenizer: character → bpe, vocabulary 120",
        "position: learned → rope",
    ]


def test_a_difference_is_arm_minus_parent(results: Results):
    own = dict(zip(results.arms["arm"], results.arms["nats_per_character"], strict=True))
    for row in results.differences.where(checkpoint="best"):
        assert row["difference"] == pytest.approx(own[row["arm"]] - own[row["from"]], abs=1e-12)
        assert row["low"] < row["difference"] < row["high"]
        assert 0 <= row["p"] <= row["p_adjusted"] <= 1
        (arm,) = results.arms.where(arm=row["arm"])
        assert (arm["difference"], arm["verdict"]) == (row["difference"], row["verdict"])
    assert len(results.differences) == 4  # two changes, at best and at last


def test_the_history_is_that_of_the_runs(results: Results):
    path = results.folder / "arms/turned/seed-2/metrics.jsonl"
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    rows = list(results.history.where(arm="turned", seed=2))
    assert [row["validation_loss"] for row in rows] == [line["validation_loss"] for line in lines]
    assert [row["step"] for row in rows] == [line["step"] for line in lines]
    assert all(row["seconds"] > 0 for row in rows)


def test_the_samples_are_those_on_the_disk(results: Results):
    path = results.folder / "arms/merged/seed-1/samples/last.jsonl"
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    first = [line for line in lines if line["number"] == 0]
    rows = list(results.samples.where(arm="merged", seed=1, checkpoint="last"))
    assert [(row["prompt"], row["text"]) for row in rows] == [
        (line["prompt"], line["text"]) for line in first
    ]
    assert rows


def test_stories_stand_beside_real_ones(results: Results):
    (row,) = results.stories.where(arm="plain", checkpoint="best", measure="unknown_words")
    own = results.record["arms"][0]["stories"]["best"]["unknown_words"]
    assert (row["figure"], row["low"]) == (own["figure"], own["low"])
    assert row["real"] == results.record["stories"]["real"]["unknown_words"]["figure"] < row["figure"]


def test_answers_say_what_the_report_says(results: Results):
    told = results.answers
    assert told["arm"] == ["merged", "turned"]
    assert told["verdict"] == results.arms["verdict"][1:]
    report = (results.folder / "report.md").read_text("utf-8")
    for row in told:
        assert row["answer"].split(".")[0] in report.replace("\u00a0", " ").replace("**", "")


def test_a_notebook_shows_question_answers_ladder_and_arms(results: Results):
    html = results._repr_html_()
    assert "What do merges and rotation buy [here]?" in html
    assert html.count("<svg") == 1 and "<table>" in html
    for arm in results.arms:
        assert html.count(arm["arm"]) >= 2  # in the table and on the ladder
    assert "not finished" not in html


def test_a_trained_model_is_that_of_the_run(results: Results):
    model = results.trained("turned", seed=1, checkpoint="last")
    assert model.recipe.position["name"] == "rope" and model.recipe.seed == 1 and model.step == 6
    with pytest.raises(LookupError, match="no arm 'twisted'; there is plain, merged, turned"):
        results.trained("twisted")
    with pytest.raises(LookupError, match="turned has no seed 7; there is 0, 1, 2"):
        results.trained("turned", seed=7)


def test_the_page_is_there_or_is_written(results: Results, tmp_path: Path):
    assert results.page == results.folder / "report.html" and results.page.is_file()
    before = results.page.read_bytes()
    results.page.rename(tmp_path / "away.html")
    assert results.page.stat().st_size == pytest.approx(len(before), rel=0.01)


def test_a_folder_without_a_study_is_an_error(tmp_path: Path):
    with pytest.raises(LookupError, match="holds no study"):
        load_results(tmp_path)


def test_results_read_again_are_the_same(results: Results):
    again = load_results(str(results.folder))
    assert again.arms == results.arms and again.history == results.history
    assert read(results.folder).record == json.loads(json.dumps(again.record))
