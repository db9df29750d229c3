"""`onechange export` from a run that was trained to a folder that others load, and what can go wrong on the way."""

import errno
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

import own_members
import small_exports
from onechange import atomic, checkpoint_reader, family, tokenizer_file
from onechange.export import (
    architectures,
    card,
    comparison,
    folder,
    hub,
    material,
    origin,
    separate,
    standalone,
)
from onechange.export.architectures import _weights, gpt_neox
from onechange.position.rope import RotaryPosition
from pages import ROOT, blocks
from small_studies import Outcome, in_haste, onechange, study_file
from test_checkpoint import replaced

pytestmark = pytest.mark.filterwarnings("ignore:.*tie_word_embeddings:UserWarning")


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


def of(study: Path, arm: str) -> Path:
    return study / "arms" / arm / "seed-0"


def export(run: Path, to: str, out: Path, *words: object) -> Outcome:
    return onechange("export", run, "--to", to, out, *words)


def refused(outcome: Outcome, *parts: str) -> None:
    """One line with all ``parts``."""
    assert outcome.status == 2 and outcome.err.count("\n") == 1, outcome
    for part in parts:
        assert part in outcome.err, outcome.err


def nothing_in(folder: Path) -> bool:
    """Neither a folder nor what becomes one."""
    return not [path for path in folder.iterdir() if path.name != "run"]


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


# --- mistakes -------------------------------------------------------------------------------------------------------


@pytest.fixture
def run(study: Path, tmp_path: Path) -> Path:
    """A copy of a run that has no study around it, the only thing in its folder."""
    return shutil.copytree(of(study, "turned"), tmp_path / "run")


def test_a_folder_that_holds_something_is_refused(run: Path, tmp_path: Path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine")
    refused(export(run, "hf", tmp_path / "out"), str(tmp_path / "out"), "not empty")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine.txt"]
    refused(export(run, "safetensors", tmp_path / "out" / "mine.txt"), "is no folder")


def test_an_empty_folder_will_do(tmp_path: Path):
    (tmp_path / "out").mkdir()
    assert folder.make(tmp_path / "out", lambda part: (part / "a").write_text("a")) == 1
    assert [path.name for path in tmp_path.rglob("*")] == ["out", "a"]


def test_words_that_are_wrong(run: Path, tmp_path: Path):
    refused(export(run, "gguf", tmp_path / "out"), "--to 'gguf'", "hf, safetensors")
    refused(export(run, "hf", tmp_path / "out", "--checkpoint", "first"), "--checkpoint 'first'")
    refused(export(run, "hf", tmp_path / "out", "--checkpoint", "step-999"), "no checkpoint of step 999")
    refused(export(tmp_path, "hf", tmp_path / "out"), "is no run")
    assert nothing_in(tmp_path)


def test_a_run_without_a_checkpoint(run: Path, tmp_path: Path):
    shutil.rmtree(run / "checkpoints")
    refused(export(run, "hf", tmp_path / "out"), "has no checkpoint yet")
    assert nothing_in(tmp_path)


def test_damaged_weights(run: Path, tmp_path: Path):
    (weights,) = {path.resolve() for path in run.glob("checkpoints/*/model.safetensors")} and {
        checkpoint / "model.safetensors"
        for checkpoint in [run / "checkpoints" / f"step-{checkpoint_reader.read(run, 'best').step:06d}"]
    }
    content = bytearray(weights.read_bytes())
    content[-3] ^= 1
    weights.write_bytes(content)
    for to in ("hf", "safetensors"):
        refused(export(run, to, tmp_path / "out"), str(weights))
    assert nothing_in(tmp_path)


def test_weights_that_are_no_numbers(run: Path, tmp_path: Path):
    step = checkpoint_reader.read(run, "best").step
    path = run / "checkpoints" / f"step-{step:06d}" / "model.safetensors"
    from safetensors.torch import load_file

    tensors = load_file(path)
    tensors["blocks.0.mlp.out.weight"][0, 0] = torch.nan
    replaced(path, tensors)
    state = json.loads((path.parent / "state.json").read_text())
    for which in ("best", "last"):
        pointer = run / "checkpoints" / f"{which}.json"
        held = json.loads(pointer.read_text())
        if held["step"] == step:
            from test_checkpoint import sealed

            held["checkpoint"] = state["sha256"]
            pointer.write_text(sealed(held))
    refused(export(run, "hf", tmp_path / "out"), "not finite numbers")
    assert nothing_in(tmp_path)


@pytest.mark.parametrize("library", ["transformers", "tokenizers"])
def test_a_library_that_is_missing(library: str, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, library, None)
    refused(export(run, "hf", tmp_path / "out"), library, "pip install 'onechange[export]'")
    assert nothing_in(tmp_path)


@pytest.mark.parametrize("to", ["hf", "safetensors"])
def test_a_full_disk_leaves_nothing(to: str, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def full(path: Path, content: bytes | str) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    monkeypatch.setattr(atomic, "write", full)
    refused(export(run, to, tmp_path / "out"), str(tmp_path / "out"), "No space left on device")
    assert nothing_in(tmp_path)


@pytest.mark.parametrize("to", ["hf", "safetensors"])
def test_an_interruption_leaves_nothing(to: str, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def interrupted(*given: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(comparison, "largest_difference", interrupted)
    monkeypatch.setattr(separate, "asked", interrupted)
    outcome = export(run, to, tmp_path / "out")
    assert outcome.status == 130 and "onechange: stopped" in outcome.err
    assert nothing_in(tmp_path)


def test_what_a_kill_left_goes_with_the_next_export(tmp_path: Path):
    left = tmp_path / ".out-abc.part" / "export"
    left.mkdir(parents=True)
    (left / "model.safetensors").write_bytes(b"half")
    folder.make(tmp_path / "out", lambda part: (part / "a").write_text("a"))
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.long
def test_a_member_from_outside_has_no_piece(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MARK", str(tmp_path / "mark"))
    (tmp_path / "mine.py").write_text(own_members.NORM, encoding="utf-8")
    file = study_file(
        tmp_path,
        STUDY_WITH_MINE,
        "mine.toml",
    )
    outcome = onechange("run", file, "--scale", "tiny", "--out", tmp_path / "study", "--jobs", 1)
    assert outcome.status == 0, outcome.err
    executed = (tmp_path / "mark").read_text().count("norm")
    for to in ("safetensors", "hf"):
        found = export(of(tmp_path / "study", "mine"), to, tmp_path / "out")
        refused(found, "norm = ", "mine.py", "comes from outside onechange")
    assert (tmp_path / "mark").read_text().count("norm") == executed
    assert not (tmp_path / "out").exists()


STUDY_WITH_MINE = """\
question = "Mine?"
corpus = { name = "storyworld", characters = 40000 }

[base]
name = "usual"
tokenizer = "character"

[[arm]]
name = "mine"
from = "usual"
change.norm = "mine.py"

[scale.tiny]
layers = 1
width = 16
window = 16
batch = 4
budget = { steps = 2 }
evaluate_every = 2
precision = "float32"
"""


# --- an export that is wrong is found out ---------------------------------------------------------------------------


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
    import dataclasses

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
    model = small()
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


def small() -> Any:
    from small_models import small_model

    return small_model(20, 8)


def test_rotary_halves_keep_products():
    """Scores of queries and keys are the same in either order of features."""
    from onechange.family import resolve
    from onechange.model import Model
    from onechange.sizes import Sizes
    from small_models import usual_parts

    sizes = Sizes(1, 2, 16, 8, 5)
    model = Model(sizes, usual_parts(position=resolve("position", {"name": "rope", "share": 0.5})))
    assert isinstance(model.position, RotaryPosition)
    found = _weights.halves(torch.arange(16).float(), model)
    assert found.tolist() == [0, 2, 1, 3, 4, 5, 6, 7, 8, 10, 9, 11, 12, 13, 14, 15]
