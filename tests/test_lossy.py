"""A tokenizer that does not give the text back: refused before anything is trained, with the reason."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from onechange import tokenizer as contract
from onechange.measure import measure
from onechange.tokenizer_show import remarks
from small_models import as_lossy, character, small_model
from small_studies import in_haste, onechange, study_file

LOWERING = '''
"""Capitals become small letters, and every byte is a token."""

from onechange.tokenizer import Tokenizer, byte

class Lowering(Tokenizer):
    loss = "it lowers capitals"
    learn = byte.Byte.learn
    vocabulary_size = byte.Byte.vocabulary_size
    token_bytes = byte.Byte.token_bytes
    to_json = byte.Byte.to_json
    restore = byte.Byte.restore

    def encode(self, text):
        return byte.Byte().encode(text.lower())
'''
STUDY = """\
question = "What do capitals buy?"
[base]
name = "plain"
tokenizer = "byte"
[[arm]]
name = "small"
from = "plain"
change.tokenizer = "lowering"
[scale.tiny]
layers = 1
width = 16
window = 16
batch = 4
budget = { steps = 2 }
"""


@pytest.fixture(autouse=True)
def _lowering(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "members").mkdir()
    (tmp_path / "members/lowering.py").write_text(LOWERING, encoding="utf-8")
    monkeypatch.setattr(contract, "__path__", [*contract.__path__, str(tmp_path / "members")])
    with in_haste(tmp_path / "cache"):
        yield
    sys.modules.pop("onechange.tokenizer.lowering", None)


def run(tmp_path: Path, *words: object) -> str:
    study = study_file(tmp_path, STUDY)
    data = "storyworld"
    outcome = onechange("run", study, "--scale", "tiny", "--data", data, "--out", tmp_path / "out", *words)
    assert (outcome.status, outcome.err.count("\n")) == (2, 1), outcome
    return outcome.err


def test_an_arm_with_it_is_refused_by_name_and_reason_before_anything_is_written(tmp_path: Path):
    said = run(tmp_path)
    assert "arm 'small': its tokenizer 'lowering' does not give the text back: it lowers capitals; " in said
    assert not (tmp_path / "out").exists()


def test_a_dry_run_says_the_same(tmp_path: Path):
    assert "arm 'small': its tokenizer 'lowering'" in run(tmp_path, "--dry-run")


def test_the_split_is_shown_with_a_remark():
    words = ("tokenizer", "show", "lowering", "--text", "Tom")
    assert "does not always give the text back: it lowers capitals" in onechange(*words).out.replace(
        "\n", " "
    )
    document = onechange(*words, "--json").document
    assert document["tokens"] == ["t", "o", "m"]
    assert json.dumps(document["remarks"]).count("it lowers capitals") == 1


def test_a_lossless_one_has_no_such_remark():
    assert remarks(character("ab")) == []


def test_the_ruler_gives_the_reason():
    lossy = as_lossy(character("ab"))
    with pytest.raises(ValueError, match=r"not lossless \(it says so\), so .* no nats per character"):
        measure(small_model(2, 4), lossy, None, lossy.encode("a"))  # type: ignore[arg-type]  # refused before the text is looked at
