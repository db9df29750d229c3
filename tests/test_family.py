"""A folder is a family, a file is a member; an unknown word or a wrong value is told with what there is."""

import inspect
import re
from pathlib import Path
from typing import Any

import pytest
import torch

import onechange.norm
from onechange import family
from onechange.first_weights import fill
from onechange.initialization.gpt2 import Gpt2Initialization
from onechange.model import Model
from onechange.sizes import Sizes

NORMS = family.members("norm")
EVERY_MEMBER = [(kind, name) for kind in family.FAMILIES for name in family.members(kind)]


@pytest.mark.parametrize("kind", family.FAMILIES)
def test_members_are_the_files_of_the_folder(kind: str):
    folder = Path(onechange.__file__).parent / kind
    files = sorted(path.stem for path in folder.glob("*.py") if not path.name.startswith("_"))
    assert family.members(kind) == files != []


@pytest.mark.parametrize(("kind", "name"), EVERY_MEMBER)
def test_every_member_says_what_it_is_and_resolves(kind: str, name: str):
    summary = family.summary(kind, name)
    assert summary.endswith(".") and "\n" not in summary
    version = family.version(kind, name)
    assert isinstance(version, int) and version >= 1
    settings = family.defaults(kind, name)
    if all(value is not inspect.Parameter.empty for value in settings.values()):
        resolved = family.resolve(kind, name)
        assert resolved == {"name": name, **settings}
        assert family.resolve(kind, resolved) == resolved


def test_one_file_more_is_one_member_more(strangers: str):
    assert family.members("norm") == sorted([*NORMS, "stranger"])
    parts = {kind: family.resolve(kind, strangers) for kind in family.MODEL_FAMILIES}
    sizes = Sizes(layers=1, heads=2, width=8, window=6, vocabulary=5)
    model = Model(sizes, parts)
    fill(model, 0, 1, Gpt2Initialization())
    assert model(torch.tensor([[0, 1, 2]])).shape == (1, 3, 8)
    assert family.resolve("position", {"name": strangers, "steep": 2}) == {"name": strangers, "steep": 2.0}


def test_a_file_whose_name_starts_with_an_underscore_is_no_member(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    (tmp_path / "_beside.py").touch()
    (tmp_path / "member.py").touch()
    monkeypatch.setattr(onechange.norm, "__path__", [*onechange.norm.__path__, str(tmp_path)])
    assert family.members("norm") == sorted([*NORMS, "member"])


def test_a_word_or_a_table():
    usual = {"name": "rope", "theta": 10_000.0, "share": 1.0, "pairs": "consecutive"}
    assert family.resolve("position", "rope") == usual
    assert family.resolve("position", {"name": "rope", "theta": 500}) == {**usual, "theta": 500.0}
    given = {"name": "rope"}
    family.resolve("position", given)["theta"] = 1.0
    assert given == {"name": "rope"} and family.resolve("position", "rope")["theta"] == 10_000.0


@pytest.mark.parametrize(
    ("kind", "choice", "error", "message"),
    [
        (
            "colour",
            "red",
            LookupError,
            r"no family 'colour'; there is corpus, tokenizer, position, .*schedule",
        ),
        (
            "position",
            "ropee",
            LookupError,
            r"position: no member 'ropee'; there is alibi, fire, kerple, learned, none, rope",
        ),
        ("position", "__init__", LookupError, r"position: no member '__init__'; there is"),
        ("position", "", LookupError, r"position: no member ''"),
        (
            "position",
            {"name": "rope", "base": 1},
            LookupError,
            r"position 'rope': no setting 'base'; its settings are: theta, share, pairs",
        ),
        ("position", {"name": "none", "x": 1}, LookupError, r"position 'none': no setting 'x'; .*: none"),
        ("position", {"theta": 1.0}, ValueError, r'position: a table needs name = "…", one of alibi, fire'),
        ("position", {"name": 3}, ValueError, r'position: a table needs name = "…"'),
        ("position", 3, ValueError, r"position = 3: must be a member's name or a table"),
        ("position", ["rope"], ValueError, r"position = \['rope'\]: must be a member's name or a table"),
        ("position", {"name": "rope", "theta": "9"}, ValueError, r"position\.theta = '9': must be a number"),
        ("position", {"name": "rope", "theta": float("nan")}, ValueError, r"position\.theta = nan: .*finite"),
        (
            "position",
            {"name": "rope", "theta": float("-inf")},
            ValueError,
            r"position\.theta = -inf: .*finite",
        ),
        (
            "schedule",
            {"name": "cosine", "warmup": 1.5},
            ValueError,
            r"schedule\.warmup = 1\.5: must be a whole number",
        ),
        (
            "schedule",
            {"name": "cosine", "warmup": True},
            ValueError,
            r"schedule\.warmup = True: must be a whole number",
        ),
        ("tokenizer", {"name": "bpe", "learn_from": "some"}, ValueError, r"tokenizer\.learn_from = 'some'"),
    ],
)
def test_what_is_wrong_is_named(kind: str, choice: Any, error: type[Exception], message: str):
    with pytest.raises(error, match=f"^{message}") as caught:
        family.resolve(kind, choice)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "name"),
    [(kind, name) for kind, name in EVERY_MEMBER if kind in family.MODEL_FAMILIES + family.TRAINING_FAMILIES],
)
def test_every_member_of_model_and_training_names_its_source(kind: str, name: str):
    found = family.source(kind, name)
    assert re.search(r"https://\S+\.\S+", found) or found.startswith("No paper"), found
    assert "\n" not in found and "  " not in found


def test_the_source_is_what_the_docstring_says_with_a_link():
    assert family.source("norm", "layer") == "Ba et al. 2016, https://arxiv.org/abs/1607.06450"
    assert family.source("mlp", "gelu") == "Hendrycks and Gimpel 2016, https://arxiv.org/abs/1606.08415"
    assert family.source("corpus", "file") == ""
