"""Every arm of every shipped study, exported and loaded again by others."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

import small_exports
from onechange import study_file
from onechange.checkpoint_reader import Trained
from onechange.export import hub, material, origin, separate, standalone

EVERYDAY = (
    "learned", "none", "sinusoidal", "alibi", "fire", "layer", "rms", "rms-swiglu", "rms-geglu", "two-groups",
    "sliding-16",
)  # fmt: skip
"""One arm or two of every architecture, and one that fits none."""
ARCHITECTURES: dict[str, str | None] = {
    "learned": "GPT2LMHeadModel",
    "none": "GPT2LMHeadModel",
    "sinusoidal": "GPT2LMHeadModel",
    "alibi": "MptForCausalLM",
    "t5": None,
    "kerple": None,
    "fire": None,
    "rms": "ArceeForCausalLM",
    "rms-relu2": "ArceeForCausalLM",
    "rms-swiglu": "LlamaForCausalLM",
    "rms-geglu": "LlamaForCausalLM",
    "dynamic-tanh": None,
    "no-norm": None,
    "two-groups": "Starcoder2ForCausalLM",
    "multi-query": "Starcoder2ForCausalLM",
    "sliding-16": "Starcoder2ForCausalLM",
    "query-key-norm": None,
    "gated": None,
    "char-wpe": "GPT2LMHeadModel",
    "bpe-wpe": "GPT2LMHeadModel",
}
"""What arms of shipped studies are to transformers, `None` where nothing fits; all others are GPT-NeoX."""
ARMS = [
    pytest.param(study, arm, id=f"{study}/{arm}", marks=[] if arm in EVERYDAY else [pytest.mark.long])
    for study, arm in small_exports.arms()
]
CLOSE = 1e-4


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_exports.text(tmp_path_factory.mktemp("text") / "stories.txt")


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda file: None)


def ids(vocabulary: int, time: int, rows: int = 3) -> Tensor:
    return torch.from_numpy(np.random.default_rng(time).integers(0, vocabulary, (rows, time)))


@torch.no_grad()
def ours(trained: Trained, tokens: Tensor) -> Tensor:
    return trained.model.logits(trained.model(tokens))


def expected(arm: str) -> str | None:
    return ARCHITECTURES.get(arm, "GPTNeoXForCausalLM")


def test_arms_that_are_spoken_of_exist():
    assert set(ARCHITECTURES) <= {arm for _, arm in small_exports.arms()}


@torch.no_grad()
@pytest.mark.parametrize(("study", "arm"), ARMS)
def test_transformers_has_the_model(study: str, arm: str, text: Path, tmp_path: Path):
    """The folder is loaded here once more, by nothing but the Auto classes."""
    import transformers

    run = small_exports.run(tmp_path / "run", study, arm, text)
    found = origin.read(run, "best", "best", trust=False)
    if expected(arm) is None:
        with pytest.raises(
            ValueError, match=r"no architecture of transformers has that .* `--to safetensors`"
        ):
            hub.write(found, tmp_path / "out")
        assert not (tmp_path / "out").exists()
        return
    written = hub.write(found, tmp_path / "out")
    assert written.architecture == expected(arm)
    assert written.agreement.greedy >= 100 and written.agreement.ties == 0
    trained = found.trained
    loaded: Any = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "out").eval()
    assert type(loaded).__name__ == expected(arm) and loaded.dtype == torch.float32
    window, vocabulary = trained.recipe.window, trained.tokenizer.vocabulary_size
    for time in (1, 2, window // 2, window):
        tokens = ids(vocabulary, time)
        scores = ours(trained, tokens)
        assert scores.std() > 0.5
        assert (loaded(tokens).logits - scores).abs().max() < CLOSE
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "out")
    story = text.read_text("utf-8").split("\n<|endoftext|>\n")[7]
    assert tokenizer(story)["input_ids"] == trained.tokenizer.encode(story).tolist()
    assert tokenizer.decode(tokenizer(story)["input_ids"]) == story


@pytest.mark.long
@pytest.mark.parametrize("study", study_file.builtin())
def test_the_pages_are_the_models(study: str, text: Path, tmp_path: Path):
    """One process without onechange loads all arms of a study."""
    made = {}
    for arm in [arm for name, arm in small_exports.arms() if name == study]:
        run = small_exports.run(tmp_path / arm / "run", study, arm, text)
        found = origin.read(run, "best", "best", trust=False)
        standalone.check_pieces(found)
        (out := tmp_path / arm / "out").mkdir()
        standalone.fill_in(found, out)
        made[arm] = found.trained, material.gathered(found), out
    assert len(made) > 1
    answers = separate.asked([(given, out) for _, given, out in made.values()])
    for (trained, given, out), answer in zip(made.values(), answers, strict=True):
        found = separate.agreement(trained, given, answer, out)
        assert found.difference < CLOSE and found.greedy >= 100 and found.texts == len(given.texts) > 5
        for row, scores in zip(given.rows, answer.scores, strict=True):
            assert (scores - ours(trained, row[None])[0]).abs().max() < CLOSE
