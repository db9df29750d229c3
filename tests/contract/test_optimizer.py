"""What every member of `optimizer` must do. Members are found, not listed."""

from pathlib import Path
from typing import Any

import member_facts
import pytest
import torch
from model_part import USUAL, Model, small_model, text

from onechange import family
from onechange.checkpoint import Checkpoints

pytestmark = pytest.mark.parametrize("name", family.members("optimizer"))


def start(name: str, **other: Any) -> tuple[Model, torch.optim.Optimizer]:
    model = small_model("norm", family.resolve("norm", USUAL["norm"]))
    member = family.build("optimizer", member_facts.resolved("optimizer", name, **other))
    return model, member.make(model.named_parameters())


def learn(model: Model, optimizer: torch.optim.Optimizer, updates: int) -> list[float]:
    losses = []
    for _ in range(updates):
        loss = model.nats(text(), text().roll(-1, 1)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    return losses


def weights(model: Model) -> dict[str, torch.Tensor]:
    return {key: value.detach().clone() for key, value in model.named_parameters()}


def different(one: dict[str, torch.Tensor], two: dict[str, torch.Tensor]) -> list[str]:
    return [key for key in one if not torch.equal(one[key], two[key])]


def test_it_learns(name: str):
    losses = learn(*start(name), 20)
    assert losses[-1] < losses[0] - 0.05


def test_making_it_changes_no_weight(name: str):
    untouched = small_model("norm", family.resolve("norm", USUAL["norm"]))
    assert not different(weights(untouched), weights(start(name)[0]))


def test_every_parameter_is_in_one_group_and_is_moved(name: str):
    model, optimizer = start(name)
    held = [id(p) for group in optimizer.param_groups for p in group["params"]]
    assert sorted(held) == sorted(id(p) for p in model.parameters())
    before = weights(model)
    learn(model, optimizer, 2)
    assert different(before, weights(model)) == list(before)


def test_the_rate_is_the_groups(name: str):
    """The schedule sets ``lr`` of every group: at 0 nothing moves, not even by weight decay."""
    model, optimizer = start(name)
    member = family.build("optimizer", member_facts.resolved("optimizer", name))
    assert member.learning_rate == member_facts.resolved("optimizer", name)["learning_rate"] > 0
    for group in optimizer.param_groups:
        assert group["lr"] == member.learning_rate
        group["lr"] = 0.0
    before = weights(model)
    learn(model, optimizer, 2)
    assert not different(before, weights(model))


def test_equal_starts_end_equal(name: str):
    one, two = start(name), start(name)
    assert learn(*one, 3) == learn(*two, 3)
    assert not different(weights(one[0]), weights(two[0]))


def test_a_checkpoint_holds_all_of_its_state(name: str, tmp_path: Path):
    model, optimizer = start(name)
    learn(model, optimizer, 3)
    Checkpoints(tmp_path).save(3, model, optimizer, {})
    learn(model, optimizer, 3)
    resumed, resumed_optimizer = start(name)
    assert Checkpoints(tmp_path).load(3, resumed, resumed_optimizer)["step"] == 3
    learn(resumed, resumed_optimizer, 3)
    assert not different(weights(model), weights(resumed))


def test_every_setting_turns_something(name: str):
    usual = start(name)
    learn(*usual, 5)
    for setting, (_, other) in member_facts.turns("optimizer", name).items():
        changed = start(name, **{setting: other})
        learn(*changed, 5)
        assert different(weights(usual[0]), weights(changed[0])), setting


def test_a_wrong_setting_says_what_is_wrong(name: str):
    member_facts.wrong_settings_are_named("optimizer", name)
    with pytest.raises(ValueError, match=r"optimizer\.learning_rate = 0.0: must be above 0"):
        family.build("optimizer", family.resolve("optimizer", {"name": name, "learning_rate": 0.0}))
