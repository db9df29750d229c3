"""A trained model says from Python what it says on the command line, and what a forward pass by hand says."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch

from onechange import Results, TrainedRun, load_run
from small_studies import onechange

TEXT = "One day, the sun was warm."


@pytest.fixture(scope="module")
def model(results: Results) -> TrainedRun:
    return results.trained("merged")


def by_hand(model: TrainedRun, text: str) -> tuple[np.ndarray, torch.Tensor]:
    """The ids of the separator and of ``text``, and the log-probabilities after each of them."""
    ids = np.concatenate([model.tokenizer.encode(model.separator), model.tokenizer.encode(text)])
    with torch.no_grad():
        features = model.model(torch.from_numpy(ids.astype(np.int64))[None])
        return ids, model.model.logits(features)[0].double().log_softmax(dim=-1)


def test_it_measures_what_the_study_measured(model: TrainedRun, results: Results):
    found = model.measure()
    measured = json.loads((model.folder / "measures.json").read_text("utf-8"))["best"]
    assert found["nats_per_character"] == measured["nats_per_character"]
    assert found["low"] < found["nats_per_character"] < found["high"]
    assert found["nats_per_character"] in results.runs["nats_per_character"]


def test_it_writes_what_the_command_writes(model: TrainedRun):
    written = model.write(["One day, ", "The "], samples=2, characters=40, seed=7)
    said = onechange("sample", model.folder, "--prompt", "One day, ", "--prompt", "The ", "--samples", 2,
                     "--characters", 40, "--seed", 7, "--json")  # fmt: skip
    lines = [json.loads(line) for line in said.out.splitlines()]
    assert [(one.prompt, one.text) for one in written] == [(line["prompt"], line["text"]) for line in lines]
    assert len(written) == 4 and written[0].text != written[1].text
    assert str(written[:1]) == written[0].prompt + written[0].text
    assert model.write("One day, ", characters=40, seed=7)[0] == written[0]


def test_the_next_tokens_are_the_likeliest_of_a_forward_pass(model: TrainedRun):
    table = model.next_tokens("One day, ", number=5)
    _, logs = by_hand(model, "One day, ")
    likeliest = logs[-1].topk(5)
    assert table["id"] == likeliest.indices.tolist()
    assert table["probability"] == pytest.approx(likeliest.values.exp().tolist(), rel=1e-5)
    assert table["token"] == [model.tokenizer.tokens()[number] for number in table["id"]]
    everything = model.next_tokens("One day, ", number=10**6)
    assert math.fsum(everything["probability"]) == pytest.approx(1.0, abs=1e-9)


def test_reading_gives_every_token_its_surprise(model: TrainedRun):
    text = TEXT[: model.recipe.window - 4]  # all in one window, so that one pass by hand is the same
    read = model.read(text)
    ids, logs = by_hand(model, text)
    before = len(model.tokenizer.encode(model.separator))
    nats = [-logs[place - 1, ids[place]].item() for place in range(before, len(ids))]
    assert read.tokens["nats"] == pytest.approx(nats, rel=1e-4)
    assert read.nats_per_character == pytest.approx(sum(nats) / len(text), rel=1e-5)
    assert "".join(text[row["start"] : row["end"]] for row in read.tokens) == text
    assert all(
        math.exp(-nats) == pytest.approx(probability, rel=1e-4)
        for nats, probability in zip(read.tokens["nats"], read.tokens["probability"], strict=True)
    )


def test_a_notebook_shows_what_was_read_the_darker_the_more_surprising(model: TrainedRun):
    read = model.read("The sun <b>".replace("<b>", "was"))
    html = read._repr_html_()
    shades = [float(part.split(")")[0]) for part in html.split("rgba(213,94,0,")[1:]]
    nats = read.tokens["nats"]
    assert len(shades) == len(nats)
    order = sorted(range(len(nats)), key=lambda place: nats[place])
    assert [shades[place] for place in order] == sorted(shades)
    assert "·" in html  # spaces can be seen


def test_mistakes_are_said(model: TrainedRun, results: Results):
    with pytest.raises(ValueError, match="the text is empty"):
        model.read("")
    with pytest.raises(ValueError, match="'☃'"):
        model.read("a ☃")
    with pytest.raises(ValueError, match="no setting temprature; there is seed, samples"):
        model.write("The ", temprature=1.0)
    with pytest.raises(ValueError, match="temperature = -1"):
        model.write("The ", temperature=-1.0)
    with pytest.raises(LookupError, match="is no run"):
        load_run(results.folder)


def test_it_is_exported_as_by_the_command(model: TrainedRun, tmp_path: Path):
    done = onechange("export", model.folder, tmp_path / "command", "--to", "safetensors")
    assert done.status == 0, done.err
    folder = model.export("safetensors", tmp_path / "python")
    files = sorted(path.name for path in folder.iterdir())
    assert files == sorted(path.name for path in (tmp_path / "command").iterdir())
    assert all((folder / name).read_bytes() == (tmp_path / "command" / name).read_bytes() for name in files)
    with pytest.raises(ValueError, match="to = 'onnx': must be one of hf, safetensors"):
        model.export("onnx", tmp_path / "other")


def test_a_model_and_its_stories_show_themselves(model: TrainedRun):
    html = model._repr_html_()
    assert "best, step" in html and "bpe" in html and f"{model.tokenizer.vocabulary_size:,}" in html
    written = model.write("The ", characters=30, temperature=0)
    assert "<b>The </b>" in written._repr_html_()
    assert "&lt;" not in written._repr_html_() or "<" in written[0].text
