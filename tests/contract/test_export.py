"""Every built-in member of the model, with each setting turned, can be exported. Members are found, not listed."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import member_facts
import pytest
import torch
from torch import Tensor

import small_exports
from onechange import family
from onechange.export import architectures, hub, material, origin, separate, standalone
from onechange.export.origin import Origin
from onechange.recipe import Recipe
from small_models import character

MEMBERS = [(kind, name) for kind in family.MODEL_FAMILIES for name in family.members(kind)]
SIZES: dict[str, Any] = {"layers": 2, "heads": 4, "width": 32, "window": 24, "dropout": 0.0}
TEXT = "Anna sah den Mond. Er war rund und gelb.\n\nBob schlief schon."
CLOSE = 1e-4


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda file: None)


RMS, SWIGLU = {"name": "rms"}, "swiglu"
TOGETHER: dict[str, dict[str, Any]] = {
    "llama": {"position": "rope", "norm": RMS, "mlp": SWIGLU, "embedding": "untied"},
    "llama, halves": {"position": {"name": "rope", "pairs": "halves", "theta": 50.0}, "norm": RMS, "mlp": SWIGLU},
    "mistral": {
        "position": "rope",
        "norm": RMS,
        "mlp": "geglu",
        "attention": {"name": "grouped", "groups": 2, "sliding": 5},
    },
    "qwen3": {"position": "rope", "norm": RMS, "mlp": SWIGLU, "attention": {"name": "heads", "query_key_norm": "rms"}},
    "qwen3, sliding": {
        "position": "rope",
        "norm": RMS,
        "mlp": SWIGLU,
        "attention": {"name": "grouped", "groups": 2, "query_key_norm": "rms", "sliding": 5},
    },
    "neox, a quarter": {"position": {"name": "rope", "share": 0.25}, "norm": {"name": "layer", "bias": True}},
    "neox, relu2": {"position": "rope", "mlp": {"name": "relu2", "hidden": 50}, "embedding": "untied"},
    "starcoder2, biases": {
        "position": "rope",
        "norm": {"name": "layer", "bias": True, "epsilon": 0.1},
        "mlp": {"name": "gelu", "approximation": "tanh"},
        "attention": {"name": "heads", "sliding": 1},
    },
    "gpt2, untied": {"position": "learned", "norm": {"name": "layer", "bias": True}, "embedding": "untied"},
    "mpt, untied": {"position": "alibi", "embedding": "untied", "norm": {"name": "layer", "epsilon": 0.1}},
    "all biases": {"position": "alibi", "attention": {"name": "grouped", "groups": 2, "sliding": 7, "gate": "head"}},
}  # fmt: skip
"""Parts of one model whose exports have to do with each other."""
ODD: dict[str, dict[str, Any]] = {
    "a window of one": {"window": 1},
    "a window of two": {"window": 2},
    "one head": {"heads": 1, "layers": 1},
    "six heads": {"heads": 6, "width": 36},
    "dropout": {"dropout": 0.25},
}
FITTING = {
    "llama": "Llama",
    "llama, halves": "Llama",
    "mistral": "Mistral",
    "qwen3": "Qwen3",
    "qwen3, sliding": "Qwen3",
    "neox, a quarter": "GPTNeoX",
    "neox, relu2": "GPTNeoX",
    "starcoder2, biases": "Starcoder2",
    "gpt2, untied": "GPT2",
    "mpt, untied": "Mpt",
    "all biases": None,
}


def variants() -> Iterator[tuple[str, dict[str, Any]]]:
    """By name, settings of a recipe: every member as it is first, and with each of its settings turned."""
    for kind, name in MEMBERS:
        turns = member_facts.turns(kind, name)
        first = {key: value for key, (value, _) in turns.items()}
        yield f"{kind}-{name}", {kind: {"name": name, **first}}
        for key, (_, other) in turns.items():
            yield f"{kind}-{name}-{key}", {kind: {"name": name, **first, key: other}}


def together() -> Iterator[tuple[str, dict[str, Any]]]:
    """The same of several members at once, and of odd sizes."""
    yield from TOGETHER.items()
    for name, sizes in ODD.items():
        for position in ("learned", "rope", "alibi", "fire"):
            yield f"{position}, {name}", {"position": position, **sizes}


TURNED, JOINED = dict(variants()), dict(together())


def exported(folder: Path, settings: dict[str, Any]) -> Origin:
    """A run of such a model, ready to be exported."""
    parts: dict[str, Any] = {
        "position": "none", "norm": "layer", "placement": "pre", "mlp": "gelu", "attention": "heads",
        "embedding": "tied", "tokenizer": "character", "initialization": "gpt2", "optimizer": "adamw",
        "schedule": "cosine", "corpus": {"name": "file", "path": str(folder / "gone.txt")},
    }  # fmt: skip
    assert parts.keys() == set(family.FAMILIES)
    given = {**parts, **SIZES, **settings}
    resolved = {kind: family.resolve(kind, given[kind]) for kind in parts}
    sizes = {key: given[key] for key in SIZES}
    recipe = Recipe(
        **resolved, **sizes, corpus_fingerprint="none", batch=1, micro_batch=0, activations="keep", steps=1,
        evaluate_every=1, clip=1.0, precision="float32", compile=False, threads=1, device="cpu", seed=0,
    )  # fmt: skip
    run = small_exports.saved(folder / "run", recipe, character(TEXT))
    return origin.read(run, "best", "best", trust=False)


@torch.no_grad()
def scores(found: Origin, ids: Tensor) -> Tensor:
    model = found.trained.model
    return model.logits(model(ids[None]))[0]


@pytest.mark.parametrize(("kind", "name"), MEMBERS)
def test_every_member_has_a_piece_of_the_page(kind: str, name: str):
    assert standalone.piece(kind, name).is_file(), (
        f"{kind} {name!r} cannot be exported: write {standalone.piece(kind, name)}, as those beside it"
    )


def test_every_piece_is_a_members():
    found = {
        (path.parent.name, path.name.removesuffix(".py.jinja"))
        for path in standalone.PIECES.glob("*/*.py.jinja")
        if not path.name.startswith("_")
    }
    assert found == set(MEMBERS)


@pytest.mark.parametrize(
    "variants", [TURNED, pytest.param(JOINED, marks=pytest.mark.long)], ids=["turned", "joined"]
)
def test_the_pages_are_the_models(
    variants: dict[str, dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """All in one process without onechange; no text is at hand, so they are tried on random tokens."""
    monkeypatch.setattr(material, "GREEDY", 10)  # of so many models that is enough, and a tenth of the time
    made = {}
    for name, settings in variants.items():
        found = exported(tmp_path / name, settings)
        given = material.gathered(found)
        assert given.what == "text made of random tokens"
        (out := tmp_path / name / "out").mkdir()
        standalone.fill_in(found, out)
        made[name] = found, given, out
    answers = separate.asked([(given, out) for _, given, out in made.values()])
    for (name, (found, given, out)), answer in zip(made.items(), answers, strict=True):
        agreement = separate.agreement(found.trained, given, answer, out)
        assert agreement.greedy >= 10, name
        assert agreement.texts == len(given.texts) > 5
        lengths = [len(row) for row in given.rows]
        assert max(lengths) == found.trained.recipe.window and min(lengths) == 1
        here = scores(found, given.rows[0])
        assert here.std() > 0.1 and (here - answer.scores[0]).abs().max() < CLOSE, name


@pytest.mark.long
@pytest.mark.parametrize("name", [*TURNED, *JOINED])
def test_transformers_has_the_model_or_says_why_not(name: str, tmp_path: Path):
    import transformers

    found = exported(tmp_path, (TURNED | JOINED)[name])
    parts = found.trained.recipe.parts
    fits = [one for one in architectures.every() if not one.misfits(parts)]
    if name in FITTING:
        assert [one.name.removesuffix("ForCausalLM").removesuffix("LMHeadModel") for one in fits[:1]] == (
            [FITTING[name]] if FITTING[name] else []
        )
    if not fits:
        with pytest.raises(ValueError, match="no architecture of transformers has that"):
            hub.write(found, tmp_path / "out")
        return
    hub.write(found, tmp_path / "out")
    loaded: Any = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "out").eval()
    for row in material.gathered(found).rows:
        with torch.no_grad():
            there = loaded(row[None]).logits[0]
        assert (scores(found, row) - there).abs().max() < CLOSE
