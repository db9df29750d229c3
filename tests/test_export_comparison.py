"""An export that is not the model is found out, and where it differs; what is compared, and how closely."""

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

import small_exports
from onechange.export import architectures, comparison, hub, material, standalone
from onechange.export.architectures import _weights, gpt_neox
from onechange.family import resolve
from onechange.model import Model
from onechange.position.rope import RotaryPosition
from onechange.sizes import Sizes
from small_exports import export, nothing_in, refused
from small_models import small_model, usual_parts
from small_studies import in_haste


@pytest.fixture(scope="module", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with in_haste(tmp_path_factory.mktemp("cache")):
        yield


@pytest.fixture
def strong(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose every weight matters; what was hardly trained hides a mistake behind small numbers."""
    text = small_exports.text(tmp_path_factory.mktemp("text") / "stories.txt")
    return small_exports.run(tmp_path / "run", "positions", "rope", text)


def test_pairs_of_the_wrong_features_are_found_out(
    strong: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Rotary pairs taken over as they are: the first token does not show it, and what goes into layer 1 is right."""
    monkeypatch.setattr(_weights, "halves", lambda weight, model: weight)
    refused(
        export(strong, "hf", tmp_path / "out"),
        "is not the model: scores differ by",
        "first at token",
        "what comes out of layer 1 differs first",
        "nothing was written",
    )
    assert nothing_in(tmp_path)


def test_a_weight_that_is_missing_is_found_out(strong: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def weights(model: Any) -> dict[str, torch.Tensor]:
        found = gpt_neox._weights(model)
        return {name: weight for name, weight in found.items() if "dense.weight" not in name}

    monkeypatch.setattr(architectures, "fitting", lambda parts: changed(weights=weights))
    refused(export(strong, "hf", tmp_path / "out"), "missing keys: gpt_neox.layers.0.attention.dense.weight")
    assert nothing_in(tmp_path)


def changed(**other: Any) -> architectures.Architecture:
    return dataclasses.replace(gpt_neox.ARCHITECTURE, **other)


def test_a_wrong_setting_is_found_out(strong: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def settings(model: Any, parts: Any) -> dict[str, Any]:
        return {**gpt_neox._settings(model, parts), "layer_norm_eps": 0.5}

    monkeypatch.setattr(architectures, "fitting", lambda parts: changed(settings=settings))
    refused(export(strong, "hf", tmp_path / "out"), "what comes out of layer 1 differs first")
    assert nothing_in(tmp_path)


def test_a_wrong_tokenizer_is_found_out(strong: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Two tokens of the file that others read have changed places."""
    usual = hub._tokenizer

    def swapped(found: Any, part: Path) -> None:
        usual(found, part)
        content = json.loads((part / "tokenizer.json").read_text("utf-8"))
        vocabulary = content["model"]["vocab"]
        vocabulary["a"], vocabulary["e"] = vocabulary["e"], vocabulary["a"]
        (part / "tokenizer.json").write_text(json.dumps(content), "utf-8")

    monkeypatch.setattr(hub, "_tokenizer", swapped)
    refused(export(strong, "hf", tmp_path / "out"), "the ids of 'T", "are others (token ")
    assert nothing_in(tmp_path)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("first * cosines - second", "first * cosines + second", "what comes out of layer 1 differs first"),
        pytest.param("return x + part", "return part", "what comes out of layer 1", marks=pytest.mark.long),
        pytest.param(
            "self.norm(x), self", "x, self", "it is the last norm or the table", marks=pytest.mark.long
        ),
        pytest.param(
            "return model.eval()",
            "import onechange",
            "its load.py fails: ModuleNotFoundError",
            marks=pytest.mark.long,
        ),
    ],
)
def test_a_wrong_page_is_found_out(
    old: str, new: str, told: str, strong: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    usual = standalone.page
    monkeypatch.setattr(standalone, "page", lambda found: replaced_once(usual(found), old, new))
    refused(export(strong, "safetensors", tmp_path / "out"), told, "nothing was written")
    assert nothing_in(tmp_path)


def replaced_once(text: str, old: str, new: str) -> str:
    assert text.count(old) == 1, old
    return text.replace(old, new)


# --- what is compared -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("window", [1, 2, 3, 16, 128, 300])
def test_prompts_leave_room_within_the_window(window: int):
    text = torch.arange(max(400, 4 * window))
    prompts, new = material._prompts(text, window)
    assert prompts.shape[1] + new <= window + 1, (
        "the last token is written once the window is full, and not read"
    )
    assert len(prompts) * new >= 100
    rows = list(material._rows(text, window))
    assert {len(row) for row in rows[:4]} == {window}
    assert rows[0][0] == 0 and rows[3][-1] == len(text) - 1


def test_how_much_scores_may_differ():
    """1e-4; less where all scores are small, as float32 rounds where they are large, more beyond 1,024 tokens."""
    ones = torch.ones(4, 3)
    assert comparison.allowed(5 * ones) == 1e-4 == comparison.allowed(-ones)
    assert comparison.allowed(ones / 10) == pytest.approx(1e-5)
    assert comparison.allowed(20 * ones) == pytest.approx(2e-4)
    assert comparison.allowed(torch.ones(2048, 1)) == pytest.approx(2e-4)


def test_a_tie_is_no_difference():
    """Where two tokens are equally likely either may be written; where they are not, it is a mistake."""
    run = torch.zeros(1, 2, dtype=torch.long)
    model = small_model(20, 8)
    tokens, leads = comparison.written(model, run, 4)
    assert comparison.same_tokens(model, run, 4, tokens) == (4, 0)
    other = tokens.copy()
    other[0, 2] += 1
    assert leads[0, 2] > 1e-3
    with pytest.raises(comparison.Differs, match=r"token \d+ in place 3"):
        comparison.same_tokens(model, run, 4, other)
    with torch.no_grad():
        model.embedding[:] = model.embedding[:1]  # every token is as likely as any other
    assert comparison.same_tokens(model, run, 4, other)[1] <= 1


def test_rotary_halves_keep_products():
    """Scores of queries and keys are the same in either order of features."""
    sizes = Sizes(1, 2, 16, 8, 5)
    model = Model(sizes, usual_parts(position=resolve("position", {"name": "rope", "share": 0.5})))
    assert isinstance(model.position, RotaryPosition)
    found = _weights.halves(torch.arange(16).float(), model)
    assert found.tolist() == [0, 2, 1, 3, 4, 5, 6, 7, 8, 10, 9, 11, 12, 13, 14, 15]
