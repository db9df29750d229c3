"""Checkpoints: what is written comes back, what does not fit is refused, and what a pointer names is never deleted."""

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from killed_runs import recipe
from onechange import atomic
from onechange.checkpoint import Checkpoints
from onechange.engine import Engine


def learned(updates: int = 2, vocabulary: int = 11) -> Engine:
    engine = Engine(recipe(), vocabulary)
    tokens = torch.arange(16).view(2, 8) % 11
    for step in range(1, updates + 1):
        engine.update(step, tokens, tokens.roll(-1, 1))
    return engine


@pytest.fixture
def saved(tmp_path: Path) -> Checkpoints:
    found, engine = Checkpoints(tmp_path), learned()
    for step in (1, 4, 8, 12):
        found.save(step, engine.model, engine.optimizer, {"characters": 10 * step})
    return found


def names(checkpoints: Checkpoints) -> list[str]:
    return sorted(path.name for path in checkpoints.folder.iterdir())


def test_weights_optimizer_and_state_come_back(saved: Checkpoints):
    whole, fresh = learned(), learned(0)
    assert saved.load(8, fresh.model, fresh.optimizer) == {"step": 8, "characters": 80}
    for key, value in whole.model.named_parameters():
        assert torch.equal(value, fresh.model.get_parameter(key)), key
        mine, theirs = whole.optimizer.state[value], fresh.optimizer.state[fresh.model.get_parameter(key)]
        assert mine.keys() == theirs.keys() != set()
        assert all(torch.equal(mine[part], theirs[part]) for part in mine)


def test_the_files_are_those_that_anyone_reads(saved: Checkpoints):
    folder = saved.at(8)
    assert names(saved) == ["step-000001", "step-000004", "step-000008", "step-000012"]
    assert sorted(path.name for path in folder.iterdir()) == [
        "model.safetensors",
        "optimizer.safetensors",
        "state.json",
    ]
    assert load_file(folder / "model.safetensors").keys() == dict(learned(0).model.named_parameters()).keys()
    assert json.loads((folder / "state.json").read_text()) == {"step": 8, "characters": 80}


def test_nothing_saved_is_no_step(tmp_path: Path):
    assert Checkpoints(tmp_path).step("best") is None
    assert Checkpoints(tmp_path).step("last") is None


def test_pointers_name_steps(saved: Checkpoints):
    saved.point("best", 4)
    saved.point("last", 8)
    assert (saved.step("best"), saved.step("last")) == (4, 8)
    assert json.loads((saved.folder / "best.json").read_text()) == {"step": 4}
    saved.point("best", 12)
    assert (saved.step("best"), saved.step("last")) == (12, 8)
    with pytest.raises(AssertionError, match="must be in place before a pointer names it"):
        saved.point("last", 5)


def test_tidying_deletes_what_no_pointer_names_and_what_a_kill_left(saved: Checkpoints):
    atomic.folder(saved.folder / "other", lambda folder: None)
    (saved.folder / "step-000016.part").mkdir()
    (saved.folder / "step-000016.part" / "model.safetensors").write_bytes(b"half")
    saved.point("best", 4)
    saved.point("last", 12)
    saved.tidy()
    assert names(saved) == ["best.json", "last.json", "other", "step-000004", "step-000012"]


@pytest.mark.parametrize("best", [1, 8, 12])
def test_tidying_never_deletes_what_a_pointer_names(saved: Checkpoints, best: int):
    saved.point("best", best)
    saved.tidy()
    assert names(saved) == ["best.json", f"step-{best:06d}"]


def test_a_step_is_written_anew_over_what_was_there(saved: Checkpoints):
    engine = learned(5)
    (saved.folder / "step-000008.part").mkdir()
    (saved.folder / "step-000008.part" / "left.over").write_text("half")
    saved.save(8, engine.model, engine.optimizer, {"characters": 1})
    fresh = learned(0)
    assert saved.load(8, fresh.model, fresh.optimizer) == {"step": 8, "characters": 1}
    assert torch.equal(fresh.model.embedding, engine.model.embedding)
    assert "step-000008.part" not in names(saved)
    assert not (saved.at(8) / "left.over").exists()


def test_weights_of_other_names_are_refused(saved: Checkpoints):
    path = saved.at(8) / "model.safetensors"
    weights = load_file(path)
    save_file({key.replace("hidden", "gate"): value for key, value in weights.items()}, path)
    with pytest.raises(
        ValueError, match=r"its weights are not this recipe's: blocks\.0\.mlp\.gate\.weight, blo"
    ):
        saved.load_weights(8, learned(0).model)
    save_file({key: value for key, value in weights.items() if key != "norm.gain"}, path)
    with pytest.raises(ValueError, match=rf"{path}: its weights are not this recipe's: norm\.gain$"):
        saved.load_weights(8, learned(0).model)


def test_weights_of_another_shape_are_refused(saved: Checkpoints):
    model = learned(0, vocabulary=12).model
    before = [parameter.detach().clone() for parameter in model.parameters()]
    with pytest.raises(ValueError, match=r"embedding has shape \[11, 16\], the recipe's is \[12, 16\]"):
        saved.load_weights(8, model)
    assert all(torch.equal(*pair) for pair in zip(before, model.parameters(), strict=True)), (
        "half is put in place"
    )


def test_an_optimizer_s_state_of_other_names_is_refused(saved: Checkpoints):
    path = saved.at(8) / "optimizer.safetensors"
    state = load_file(path)
    save_file({key.replace("hidden", "gate"): value for key, value in state.items()}, path)
    engine = learned(0)
    with pytest.raises(
        ValueError, match=r"optimizer\.safetensors: .* not this recipe's: blocks\.0\.mlp\.gate"
    ):
        saved.load(8, engine.model, engine.optimizer)


def test_a_damaged_file_is_told(saved: Checkpoints):
    path = saved.at(8) / "model.safetensors"
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(ValueError, match=rf"{path} is damaged"):
        saved.load_weights(8, learned(0).model)
    for content in ("", "[]", '{"step": "x"}'):
        (saved.folder / "best.json").write_text(content)
        with pytest.raises(ValueError, match=rf"{saved.folder / 'best.json'} is damaged"):
            saved.step("best")
