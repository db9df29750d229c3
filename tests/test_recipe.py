"""One run's recipe: it survives its file, is strict, and its identity is all that decides the numbers."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from killed_runs import recipe
from onechange import family
from onechange.position.rope import RotaryPosition
from onechange.recipe import Recipe

CORPUS = family.resolve("corpus", "tinystories")
USUAL = recipe(corpus=CORPUS, position=family.resolve("position", "rope"))


def read(folder: Path, content: str | bytes) -> Recipe:
    path = folder / "recipe.toml"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return Recipe.read(path)


def test_it_survives_its_file(tmp_path: Path):
    assert read(tmp_path, USUAL.to_toml()) == USUAL
    assert read(tmp_path, USUAL.to_toml()).to_toml() == USUAL.to_toml()
    assert read(tmp_path, USUAL.to_toml()).identity == USUAL.identity


@given(
    clip=st.floats(min_value=1e-300, allow_infinity=False),
    theta=st.floats(1.5, 1e300),
    seed=st.integers(0, 2**60),
    separator=st.text(st.characters(codec="utf-8"), min_size=1),
)
def test_every_number_and_text_survives(
    tmp_path_factory: pytest.TempPathFactory, clip: float, theta: float, seed: int, separator: str
):
    changed = msgspec.structs.replace(
        USUAL,
        clip=clip,
        seed=seed,
        position=family.resolve("position", {"name": "rope", "theta": theta}),
        corpus={**CORPUS, "separator": separator},
    )
    assert read(tmp_path_factory.getbasetemp(), changed.to_toml()) == changed


def test_what_is_none_is_left_out_and_comes_back(tmp_path: Path):
    everything = family.resolve("corpus", {"name": "file", "path": "a.txt"})
    assert None in everything.values()
    changed = msgspec.structs.replace(USUAL, corpus=everything)
    assert read(tmp_path, changed.to_toml()) == changed


def other_values() -> dict[str, Any]:
    """For every key of a recipe a value that `USUAL` does not have."""
    return {
        "corpus": {**CORPUS, "path": "/elsewhere/stories.txt"},
        "corpus_fingerprint": "1" * 64,
        "tokenizer": family.resolve("tokenizer", "bpe"),
        "position": family.resolve("position", {"name": "rope", "theta": 500.0}),
        "norm": {"name": "layer", "other": 1e-6},
        "placement": family.resolve("placement", "post"),
        "mlp": {"name": "gelu", "other": 3},
        "attention": family.resolve("attention", {"name": "heads", "sliding": 3}),
        "embedding": family.resolve("embedding", "untied"),
        "initialization": family.resolve("initialization", "torch"),
        "optimizer": {**USUAL.optimizer, "beta2": 0.99},
        "schedule": {**USUAL.schedule, "final": 0.2},
        "layers": 3,
        "heads": 4,
        "width": 32,
        "window": 17,
        "dropout": 0.1,
        "batch": 5,
        "micro_batch": 2,
        "activations": "recompute",
        "steps": 13,
        "evaluate_every": 5,
        "patience": 3,
        "clip": 2.0,
        "precision": "bf16",
        "compile": True,
        "threads": 2,
        "device": "cuda",
        "seed": 4,
    }


def test_identity_is_changed_by_every_setting_and_by_no_path():
    assert other_values().keys() == {*msgspec.structs.asdict(USUAL)} - {"format"}, "a key without an entry"
    identities = {
        key: msgspec.structs.replace(USUAL, **{key: value}).identity for key, value in other_values().items()
    }
    assert identities.pop("corpus") == USUAL.identity, "the corpus's fingerprint stands for it"
    assert len({USUAL.identity, *identities.values()}) == 1 + len(identities)


def test_identity_is_the_same_in_every_order_and_process():
    reordered = Recipe(**dict(reversed(msgspec.structs.asdict(USUAL).items())))
    assert reordered.identity == USUAL.identity
    assert recipe().identity == "c7403f0976718586c8ecbce2c8e5f3d0990a2709993c32177276aa43460625b8"


def test_a_member_whose_numbers_change_changes_the_identity(monkeypatch: pytest.MonkeyPatch):
    before = USUAL.identity
    monkeypatch.setattr(RotaryPosition, "version", RotaryPosition.version + 1)
    assert USUAL.identity != before


@pytest.mark.parametrize(
    ("found", "written", "message"),
    [
        ("layers = 2\n", "", r"missing required field `layers`"),
        ("seed = 3", "seed = 3\nsurplus = 1", r"unknown field `surplus`"),
        ("seed = 3", "seed = -3", r"seed = -3: must be at least 0"),
        ("seed = 3", "seed = 3.5", r"Expected `int`, got `float` - at `\$\.seed`"),
        ("clip = 1.0", "clip = nan", r"clip = nan: must be a finite number above 0"),
        ("clip = 1.0", "clip = inf", r"clip = inf: must be a finite number above 0"),
        ("clip = 1.0", "clip = 0.0", r"clip = 0\.0: must be a finite number above 0"),
        ("dropout = 0.0", "dropout = nan", r"dropout = nan: must be at least 0 and below 1"),
        ("dropout = 0.0", "dropout = 1.0", r"dropout = 1\.0: must be at least 0 and below 1"),
        ("batch = 4", "batch = 0", r"batch = 0: must be at least 1"),
        ("patience = 0", "patience = -1", r"patience = -1: must be at least 0"),
        ("micro_batch = 0", "micro_batch = -1", r"micro_batch = -1: must be at least 0"),
        ('"keep"', '"drop"', r"'drop'.* at `\$\.activations`"),
        ('device = "cpu"', 'device = "tpu"', r"'tpu'.* at `\$\.device`"),
        ("steps = 12", "steps = 0", r"steps = 0: must be at least 1"),
        ("evaluate_every = 4", "evaluate_every = 0", r"evaluate_every = 0: must be at least 1"),
        ("threads = 1", "threads = 0", r"threads = 0: must be at least 1"),
        ("window = 16", "window = 0", r"window = 0: must be at least 1"),
        ("heads = 2", "heads = 5", r"width = 16 cannot be divided among heads = 5"),
        ('"float32"', '"float16"', r"'float16'.* at `\$\.precision`"),
        ("compile = false", "compile = 1", r"Expected `bool`, got `int` - at `\$\.compile`"),
        ("format = 3", "format = 2", r"format = 2: this version reads recipes of format 3; a run of another"),
        ("[norm]", "[normal]", r"the table \[norm\] is missing"),
        ('"layer"', '"layr"', r"norm: no member 'layr'; there is dynamic_tanh, layer, "),
        ("theta", "thet", r"position 'rope': no setting 'thet'; its settings are: theta"),
        ("beta1 = 0.9", "beta1 = nan", r"optimizer\.beta1 = nan: must be a finite number"),
        ("seed = 3", "seed = [", r"Invalid"),
    ],
)
def test_a_file_that_is_no_recipe_is_told_so(tmp_path: Path, found: str, written: str, message: str):
    assert found in USUAL.to_toml()
    with pytest.raises(
        ValueError, match=rf"recipe\.toml is not a recipe that can be read: .*{message}"
    ) as caught:
        read(tmp_path, USUAL.to_toml().replace(found, written))
    assert "\n" not in str(caught.value)


def test_bytes_that_are_no_text_are_told(tmp_path: Path):
    with pytest.raises(ValueError, match=r"not a recipe that can be read: .*0xff"):
        read(tmp_path, b"\xff\xfe")


def test_sizes_are_the_model_s():
    sizes = USUAL.sizes(99)
    assert (sizes.layers, sizes.heads, sizes.width, sizes.window, sizes.vocabulary) == (2, 2, 16, 16, 99)
    assert sizes.head_width == 8
    assert USUAL.parts.keys() == {"position", "norm", "placement", "mlp", "attention", "embedding"}
