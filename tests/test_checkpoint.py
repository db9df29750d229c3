"""Checkpoints: what is written comes back, what does not fit is refused, and what a pointer names is never deleted."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from killed_runs import recipe
from onechange import atomic
from onechange.checkpoint import Checkpoints
from onechange.digest import Damaged
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


def sealed(content: dict[str, Any]) -> str:
    """JSON that holds the SHA-256 of the rest of itself."""
    rest = {key: value for key, value in content.items() if key != "sha256"}
    mark = hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()
    return json.dumps({**rest, "sha256": mark}, sort_keys=True) + "\n"


def replaced(path: Path, tensors: dict[str, torch.Tensor]) -> None:
    """Other tensors in a checkpoint's file, and in its state the mark that they would have."""
    save_file(tensors, path)
    state = json.loads((path.parent / "state.json").read_text())
    content = path.read_bytes()
    state["files"][path.name] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    (path.parent / "state.json").write_text(sealed(state))


def own(state: dict[str, Any]) -> dict[str, Any]:
    """A state without the marks."""
    return {key: value for key, value in state.items() if key not in ("files", "sha256")}


def names(checkpoints: Checkpoints) -> list[str]:
    return sorted(path.name for path in checkpoints.folder.iterdir())


def test_weights_optimizer_and_state_come_back(saved: Checkpoints):
    whole, fresh = learned(), learned(0)
    assert own(saved.load(8, fresh.model, fresh.optimizer)) == {"step": 8, "characters": 80}
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
    state = json.loads((folder / "state.json").read_text())
    assert own(state) == {"step": 8, "characters": 80}
    assert (folder / "state.json").read_text() == sealed(state)
    for name in ("model.safetensors", "optimizer.safetensors"):
        content = (folder / name).read_bytes()
        assert state["files"][name] == {
            "bytes": len(content),
            "sha256": hashlib.sha256(content).hexdigest(),
        }


def test_nothing_saved_is_no_step(tmp_path: Path):
    assert Checkpoints(tmp_path).step("best") is None
    assert Checkpoints(tmp_path).step("last") is None


def test_pointers_name_steps(saved: Checkpoints):
    saved.point("best", 4)
    saved.point("last", 8)
    assert (saved.step("best"), saved.step("last")) == (4, 8)
    state = json.loads((saved.at(4) / "state.json").read_text())
    pointer = sealed({"step": 4, "checkpoint": state["sha256"]})
    assert (saved.folder / "best.json").read_text() == pointer
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
    saved.tidy(finished=False)
    both = ["step-000004", "step-000008", "step-000012"]
    assert names(saved) == ["best.json", "last.json", "other", *both], (
        "in training the one before the last stays"
    )
    saved.tidy(finished=True)
    assert names(saved) == ["best.json", "last.json", "other", "step-000004", "step-000012"]


@pytest.mark.parametrize("best", [1, 8, 12])
def test_tidying_never_deletes_what_a_pointer_names(saved: Checkpoints, best: int):
    saved.point("best", best)
    saved.tidy(finished=True)
    assert names(saved) == ["best.json", f"step-{best:06d}"]


def test_a_step_is_written_anew_over_what_was_there(saved: Checkpoints):
    engine = learned(5)
    (saved.folder / "step-000008.part").mkdir()
    (saved.folder / "step-000008.part" / "left.over").write_text("half")
    saved.save(8, engine.model, engine.optimizer, {"characters": 1})
    fresh = learned(0)
    assert own(saved.load(8, fresh.model, fresh.optimizer)) == {"step": 8, "characters": 1}
    assert torch.equal(fresh.model.embedding, engine.model.embedding)
    assert "step-000008.part" not in names(saved)
    assert not (saved.at(8) / "left.over").exists()


def test_weights_of_other_names_are_refused(saved: Checkpoints):
    path = saved.at(8) / "model.safetensors"
    weights = load_file(path)
    replaced(path, {key.replace("hidden", "gate"): value for key, value in weights.items()})
    with pytest.raises(
        ValueError, match=r"its weights are not this recipe's: blocks\.0\.mlp\.gate\.weight, blo"
    ):
        saved.load_weights(8, learned(0).model)
    replaced(path, {key: value for key, value in weights.items() if key != "norm.gain"})
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
    replaced(path, {key.replace("hidden", "gate"): value for key, value in state.items()})
    engine = learned(0)
    with pytest.raises(
        ValueError, match=r"optimizer\.safetensors: .* not this recipe's: blocks\.0\.mlp\.gate"
    ):
        saved.load(8, engine.model, engine.optimizer)


@pytest.mark.parametrize("name", ["model.safetensors", "optimizer.safetensors", "state.json"])
def test_a_flipped_bit_or_a_lost_end_anywhere_is_found(saved: Checkpoints, name: str):
    path = saved.at(8) / name
    whole = path.read_bytes()
    saved.verify(8)
    places = range(len(whole)) if name == "state.json" else range(0, len(whole), 997)
    for place in places:
        altered = bytearray(whole)
        altered[place] ^= 1 << place % 8
        path.write_bytes(altered)
        with pytest.raises(Damaged, match=rf"^{path} is damaged: "):
            saved.verify(8)
        path.write_bytes(whole[:place])
        with pytest.raises(Damaged, match=rf"^{path} is damaged: "):
            saved.verify(8)
    path.unlink()
    with pytest.raises(Damaged, match=rf"^{path} is damaged: it is missing$"):
        saved.verify(8)


def test_a_flipped_bit_in_a_pointer_is_found(saved: Checkpoints):
    saved.point("best", 8)
    path = saved.folder / "best.json"
    whole = path.read_bytes()
    for place in range(len(whole)):
        for bit in range(8):
            altered = bytearray(whole)
            altered[place] ^= 1 << bit
            path.write_bytes(altered)
            with pytest.raises(Damaged, match=rf"^{path} is damaged: "):
                saved.step("best")


def test_a_pointer_does_not_name_a_checkpoint_that_was_put_in_its_place(saved: Checkpoints):
    saved.point("best", 8)
    engine = learned(3)
    saved.save(8, engine.model, engine.optimizer, {"characters": 80})
    with pytest.raises(Damaged, match=r"best\.json is damaged: it names another checkpoint of step 8"):
        saved.step("best")


@pytest.mark.parametrize(
    "content", ["", "[]", '{"step": "x"}', sealed({"step": 0}), sealed({"step": "../8"})]
)
def test_a_pointer_that_names_no_step_is_damaged(saved: Checkpoints, content: str):
    (saved.folder / "best.json").write_text(content)
    with pytest.raises(ValueError, match=rf"{saved.folder / 'best.json'} is damaged"):
        saved.step("best")
