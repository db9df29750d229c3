"""`onechange export` from a run that was trained to a folder that others load."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

import small_exports
from onechange import checkpoint_reader, family, tokenizer_file
from onechange.export import architectures, card, hub, origin, standalone
from pages import ROOT, blocks
from small_exports import export, of
from small_studies import in_haste, onechange, study_file


@pytest.fixture(scope="module", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with in_haste(tmp_path_factory.mktemp("cache")):
        yield


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three arms that were trained on storyworld."""
    folder = tmp_path_factory.mktemp("study")
    outcome = onechange("run", study_file(folder), "--scale", "tiny", "--out", folder / "out", "--jobs", 1)
    assert outcome.status == 0, outcome.err
    return folder / "out"


@pytest.fixture(scope="module")
def merged(study: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """The export of an arm with BPE and learned positions, and what the command said of it."""
    out = tmp_path_factory.mktemp("merged") / "story-model"
    outcome = export(of(study, "merged"), "hf", out, "--json")
    assert outcome.status == 0, outcome.err
    return out, outcome.document


def test_what_the_command_says(merged: tuple[Path, dict[str, Any]]):
    out, said = merged
    assert said["architecture"] == "GPT2LMHeadModel" and said["folder"] == str(out)
    assert said["tried_on"] == "its validation text"
    assert 0 <= said["largest_difference"] < said["allowed_difference"] <= 1e-4
    assert said["greedy_tokens"] >= 100 and said["ties"] == 0
    assert said["files"] == sorted(path.name for path in out.iterdir())
    assert said["files"] == [
        "README.md", "config.json", "generation_config.json", "model.safetensors", "tokenizer.json",
        "tokenizer_config.json",
    ]  # fmt: skip
    assert (out / "model.safetensors").stat().st_mode & 0o444 == 0o444


def test_a_trained_model_is_the_same_to_transformers(study: Path, merged: tuple[Path, dict[str, Any]]):
    import transformers

    out, _ = merged
    trained = checkpoint_reader.read(of(study, "merged"), "best")
    loaded: Any = transformers.AutoModelForCausalLM.from_pretrained(out).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(out)
    ids = tokenizer("One day, Lily was happy.")["input_ids"][:16]
    assert ids == trained.tokenizer.encode("One day, Lily was happy.").tolist()[:16]
    with torch.no_grad():
        here = trained.model.logits(trained.model(torch.tensor([ids])))
        assert (loaded(torch.tensor([ids])).logits - here).abs().max() < 1e-4
    assert sum(parameter.numel() for parameter in trained.model.parameters()) == sum(
        tensor.numel()
        for name, tensor in loaded.state_dict().items()
        if "bias" not in name and "lm_head" not in name
    )


def test_tables_that_are_one_are_stored_once(merged: tuple[Path, dict[str, Any]]):
    out, _ = merged
    from safetensors import safe_open

    with safe_open(out / "model.safetensors", "pt") as file:
        names = list(file.keys())
        assert {file.get_slice(name).get_dtype() for name in names} == {"F32"}
    assert "lm_head.weight" not in names and "transformer.wte.weight" in names
    assert json.loads((out / "config.json").read_text())["tie_word_embeddings"] is True


def test_the_settings_that_others_read(study: Path, merged: tuple[Path, dict[str, Any]]):
    out, _ = merged
    config, generation, tokenizer = (
        json.loads((out / name).read_text())
        for name in ("config.json", "generation_config.json", "tokenizer_config.json")
    )
    assert config["n_positions"] == tokenizer["model_max_length"] == generation["max_length"] == 16
    assert config["architectures"] == ["GPT2LMHeadModel"] and "auto_map" not in config
    assert generation["temperature"] == 0.7 and generation["top_k"] == 30 and generation["do_sample"] is True
    separator = checkpoint_reader.read(of(study, "merged"), "best").tokenizer.encode("\n\n").tolist()
    assert generation.get("eos_token_id") == (separator[0] if len(separator) == 1 else None)


def test_the_card_says_what_the_study_found(study: Path, merged: tuple[Path, dict[str, Any]]):
    import yaml

    out, _ = merged
    text = (out / "README.md").read_text("utf-8")
    head, body = re.fullmatch(r"---\n(.*?)\n---\n(.*)", text, re.DOTALL).groups()  # type: ignore[union-attr]
    told = yaml.safe_load(head)
    assert told["library_name"] == "transformers" and told["pipeline_tag"] == "text-generation"
    assert told["language"] == ["en"] and "onechange" in told["tags"] and "license" not in told
    results = json.loads((study / "results.json").read_text("utf-8"))
    arm = next(arm for arm in results["arms"] if arm["name"] == "merged")
    for said in (
        results["question"],
        "tokenizer: bpe (vocabulary = 120)",
        "from `plain`",
        f"nats per character | {arm['runs'][0]['best']['nats_per_character']:.4f}, this checkpoint",
        f"{arm['versus_parent']['nats_per_character_difference']:+.4f}",
        "one seed: not judged",
        results["corpus"]["fingerprint"],
        "None was stated",
    ):
        assert said in body, said
    assert "{{" not in text and "{%" not in text and "\n\n\n" not in text
    assert len(list((out).glob("*"))) == 6


def test_the_card_s_program_runs(
    merged: tuple[Path, dict[str, Any]], monkeypatch: pytest.MonkeyPatch, capsys: Any
):
    out, _ = merged
    (program,) = re.findall(r"```python\n(.*?)```", (out / "README.md").read_text("utf-8"), re.DOTALL)
    monkeypatch.chdir(out.parent)
    exec(program, {})
    shown = capsys.readouterr().out
    (prompt,) = re.findall(r'prompt = "\\n\\n", "(.*)"', program)
    assert (
        card.PROMPT.startswith(prompt) and shown.startswith(prompt or "\n") and len(shown) > len(prompt) + 5
    )


def test_a_model_with_rotation_and_one_with_characters(study: Path, tmp_path: Path):
    import transformers

    for arm, architecture in (("turned", "GPTNeoXForCausalLM"), ("plain", "GPT2LMHeadModel")):
        outcome = export(of(study, arm), "hf", tmp_path / arm, "--checkpoint", "last")
        assert outcome.status == 0, outcome.err
        assert architecture in outcome.out and "tokens are the same" in outcome.out
        loaded = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / arm)
        assert type(loaded).__name__ == architecture
        config = json.loads((tmp_path / arm / "config.json").read_text("utf-8"))
        # What versions before 5 read, and 5.0 too.
        assert (config.get("rotary_pct"), config.get("rotary_emb_base")) == (
            (1.0, 10_000.0) if arm == "turned" else (None, None)
        )
    assert "stop_strings=[separator]" in (tmp_path / "plain" / "README.md").read_text("utf-8")


def test_the_page_writes_without_onechange(study: Path, tmp_path: Path):
    outcome = export(of(study, "turned"), "safetensors", tmp_path / "page", "--json")
    assert outcome.status == 0, outcome.err
    assert outcome.document["files"] == ["config.json", "load.py", "model.safetensors", "tokenizer.json"]
    page = (tmp_path / "page" / "load.py").read_text("utf-8")
    assert "onechange" not in re.sub(r'^""".*?"""', "", page, count=1, flags=re.DOTALL)
    assert max(map(len, page.splitlines())) <= 120 and len(page.splitlines()) < 200
    moved = shutil.move(tmp_path / "page", tmp_path / "elsewhere")
    ended = subprocess.run(
        [sys.executable, "-I", "load.py", "One day,"],
        cwd=moved,
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith("One day,") and len(ended.stdout) > 20
    settings = json.loads((Path(moved) / "config.json").read_text("utf-8"))
    assert settings["origin"]["arm"] == "turned" and settings["origin"]["change"] == "position: rope"
    assert "path" not in settings["origin"]["corpus"]


@pytest.mark.parametrize("to", ["hf", pytest.param("safetensors", marks=pytest.mark.long)])
def test_a_run_that_lies_alone_is_exported_too(to: str, tmp_path: Path):
    """Neither a study around it, nor its text: it is tried on text that the tokenizer makes."""
    text = small_exports.text(tmp_path / "stories.txt")
    corpus = family.resolve("corpus", {"name": "file", "path": str(text), "separator": "\n"})
    run = small_exports.run(tmp_path / "run", "tokenizer-kinds", "byte", text, corpus=corpus)
    text.unlink()
    small_exports.plan.cache_clear()
    outcome = export(run, to, tmp_path / "deep" / "out", "--json")
    assert outcome.status == 0, outcome.err
    assert outcome.document["tried_on"] == "text made of random tokens" and outcome.document["texts"] > 5
    if to == "hf":  # the separator is one token, a byte, which ends a story
        config, generation = (
            json.loads((tmp_path / "deep" / "out" / name).read_text("utf-8"))
            for name in ("config.json", "generation_config.json")
        )
        assert config["eos_token_id"] == generation["eos_token_id"] == generation["pad_token_id"] == 10
        assert "stop_strings" not in (tmp_path / "deep" / "out" / "README.md").read_text("utf-8")


def test_the_program_of_the_documentation_runs(
    merged: tuple[Path, dict[str, Any]], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    out, _ = merged
    (program,) = blocks(ROOT / "docs" / "how-to" / "export.md", "python")
    assert f'"{out.name}"' in program
    monkeypatch.chdir(out.parent)
    exec(program, {})
    assert capsys.readouterr().out.lstrip("\n").startswith("One day")


def test_the_documentation_names_every_architecture():
    page = (ROOT / "docs" / "how-to" / "export.md").read_text("utf-8")
    (table,) = re.findall(r"\| architecture .*?\n\n", page, re.DOTALL)
    assert set(re.findall(r"^\| `(\w+)`", table, re.MULTILINE)) == {one.name for one in architectures.every()}


@pytest.mark.parametrize("kind", ["character", "byte", "bpe", "byte_bpe", "unigram", "pretrained"])
def test_every_architecture_has_every_tokenizer(kind: str, tmp_path: Path):
    """transformers looks at the model's kind too when it chooses how a tokenizer is read."""
    import transformers

    text = small_exports.text(tmp_path / "stories.txt")
    stories = text.read_text("utf-8").split("\n<|endoftext|>\n")
    setting: dict[str, Any] = {"name": kind}
    if kind in ("bpe", "byte_bpe", "unigram"):
        setting["vocabulary"] = 300
    if kind == "pretrained":
        setting["source"] = str(theirs(tmp_path / "theirs.json", stories))
    resolved = family.resolve("tokenizer", setting)
    tokenizer = family.build("tokenizer", resolved)
    tokenizer.learn(stories, "".join(sorted({*"".join(stories), "\n"})))
    tokenizer_file.save(tokenizer, resolved, tmp_path)
    source: Any = SimpleNamespace(folder=tmp_path, trained=SimpleNamespace(recipe=SimpleNamespace(window=16)))
    texts = [*stories[:3], "\n\n", "\n", " ", stories[0] + "\n\n" + stories[1]]
    if kind in ("byte", "byte_bpe"):
        texts += ["Übergrößenträger – 東京 🙂", " \t\n\n\n  x"]
    if kind == "pretrained":
        texts += ["The end.<|end|> There", "<|end|>"]
    for number, architecture in enumerate(architectures.every()):
        (out := tmp_path / str(number)).mkdir()
        hub._tokenizer(source, out)
        getattr(transformers, architecture.configuration)().save_pretrained(out)
        loaded = transformers.AutoTokenizer.from_pretrained(out)
        for text in texts:
            ids = loaded(text)["input_ids"]
            assert ids == tokenizer.encode(text).tolist(), (architecture.name, text)
            assert loaded.decode(ids) == tokenizer.decode(ids) == text


def theirs(path: Path, texts: list[str]) -> Path:
    """A tokenizer that another library has learned, with a token that is a text of its own."""
    import tokenizers
    from tokenizers import decoders, models, pre_tokenizers, trainers

    made = tokenizers.Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        show_progress=False,
        special_tokens=["<|end|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    made.train_from_iterator(texts, trainer)
    made.save(str(path))
    return path


def test_an_arm_that_is_no_name_is_not_in_the_page(study: Path, tmp_path: Path):
    """The page is executed: whoever wrote the folder shall not write in it."""
    copied = shutil.copytree(study, tmp_path / "study")
    evil = '"""; raise SystemExit("gotcha")  # '
    (copied / "arms" / "plain").rename(copied / "arms" / evil)
    results = json.loads((copied / "results.json").read_text("utf-8"))
    results["arms"][0]["name"] = evil
    (copied / "results.json").write_text(json.dumps(results), "utf-8")
    found = origin.read(of(copied, evil), "best", "best", trust=False)
    assert found.told is None and "gotcha" not in standalone.page(found)
    assert origin.read(of(study, "plain"), "best", "best", trust=False).told is not None
