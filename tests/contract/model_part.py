"""What every member of every family of the model must do, tried in a whole small model."""

from itertools import pairwise
from typing import Any

import member_facts
import pytest
import torch
from torch import Tensor

from onechange import family
from onechange.first_weights import fill
from onechange.initialization.gpt2 import Gpt2Initialization
from onechange.model import Model
from onechange.settings import DEFAULTS
from onechange.sizes import Sizes

SIZES = Sizes(layers=2, heads=2, width=16, window=24, vocabulary=29)
USUAL = {kind: DEFAULTS[kind] for kind in family.MODEL_FAMILIES}
OWN = {kind: kind for kind in family.MODEL_FAMILIES} | {"placement": "norm"}
"""By which word in their names a family's own parameters are known: a placement decides where norms stand."""


def parts(kind: str, settings: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {**{each: family.resolve(each, name) for each, name in USUAL.items()}, kind: settings}


def small_model(kind: str, settings: dict[str, Any], seed: int = 0) -> Model:
    model = Model(SIZES, parts(kind, settings))
    fill(model, seed, SIZES.layers, Gpt2Initialization())
    return model


def loud_model(kind: str, settings: dict[str, Any]) -> Model:
    """With weights ten times as large and nothing left at zero, so that everything that acts is seen."""
    model = small_model(kind, settings)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim > 1:
                parameter.mul_(10)
            elif not parameter.any():
                parameter.copy_(torch.linspace(-1, 1, parameter.numel()).view(parameter.shape))
    return model


def text(length: int = SIZES.window, rows: int = 3) -> Tensor:
    return torch.randint(SIZES.vocabulary, (rows, length), generator=torch.Generator().manual_seed(length))


class ModelPart:
    """A subclass names its family; its members are found."""

    family: str

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        if "name" in metafunc.fixturenames:
            metafunc.parametrize("name", family.members(self.family))

    def loud(self, name: str, **other: Any) -> Model:
        return loud_model(self.family, member_facts.resolved(self.family, name, **other))

    @torch.no_grad()
    def test_the_future_does_not_leak_into_the_past(self, name: str):
        model, tokens = self.loud(name), text()
        features = model(tokens)
        for change in (1, 7, SIZES.window - 1):
            other = tokens.clone()
            other[:, change:] = (other[:, change:] + 1) % SIZES.vocabulary
            changed = model(other)
            torch.testing.assert_close(changed[:, :change], features[:, :change], rtol=0, atol=1e-6)
            assert (changed[:, change:] - features[:, change:]).abs().amax(-1).min() > 1e-2

    @torch.no_grad()
    def test_a_shorter_text_is_a_prefix_of_a_longer_one(self, name: str):
        model, tokens = self.loud(name), text()
        features = model(tokens)
        for length in (1, 2, 11, SIZES.window - 1):
            torch.testing.assert_close(model(tokens[:, :length]), features[:, :length], rtol=1e-5, atol=1e-5)

    @torch.no_grad()
    def test_the_past_is_seen(self, name: str):
        model, tokens = self.loud(name), text()
        other = tokens.clone()
        other[:, 0] = (other[:, 0] + 1) % SIZES.vocabulary
        assert (model(other) - model(tokens))[:, 1:].abs().max() > 1e-2

    @torch.no_grad()
    def test_a_row_does_not_depend_on_the_rows_beside_it(self, name: str):
        model, tokens = self.loud(name), text()
        for row in range(len(tokens)):
            alone = model(tokens[row : row + 1])
            torch.testing.assert_close(model(tokens)[row : row + 1], alone, rtol=1e-5, atol=1e-5)

    @torch.no_grad()
    def test_a_forward_pass_leaves_nothing_behind(self, name: str):
        model, tokens = self.loud(name), text()
        before = {key: value.clone() for key, value in (*model.named_parameters(), *model.named_buffers())}
        first = model(tokens)
        model(text(5))
        assert torch.equal(model(tokens), first)
        for key, value in (*model.named_parameters(), *model.named_buffers()):
            assert torch.equal(value, before[key]), key

    def test_parameters_are_all_that_has_to_be_saved(self, name: str):
        model = self.loud(name)
        assert model.state_dict().keys() == dict(model.named_parameters()).keys()

    def test_every_parameter_is_initialised_from_its_own_stream(self, name: str):
        torch.use_deterministic_algorithms(True)  # fills with NaN what torch.empty returns
        try:
            with torch.random.fork_rng(devices=()):
                torch.manual_seed(1)
                model = small_model(self.family, member_facts.resolved(self.family, name))
                torch.manual_seed(2)
                again = small_model(self.family, member_facts.resolved(self.family, name))
        finally:
            torch.use_deterministic_algorithms(False)
        for key, value in model.named_parameters():
            assert value.isfinite().all(), f"{key} is not initialised"
            assert torch.equal(value, again.get_parameter(key)), f"{key} depends on torch's own generator"

    def test_every_parameter_gets_a_gradient_within_two_updates(self, name: str):
        model = small_model(self.family, member_facts.resolved(self.family, name))
        optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
        waiting = dict(model.named_parameters())
        for _ in range(2):
            tokens = text()
            optimizer.zero_grad()
            model.nats(tokens, tokens.roll(-1, 1)).mean().backward()
            waiting = {key: p for key, p in waiting.items() if p.grad is None or not p.grad.any()}
            optimizer.step()
        assert not waiting.keys()

    @torch.no_grad()
    def test_every_setting_turns_something(self, name: str):
        turns = member_facts.turns(self.family, name)
        tokens = text(member_facts.facts(self.family, name).text_length)
        model = self.loud(name)
        for setting, (value, other) in turns.items():
            assert value != other
            changed = self.loud(name, **{setting: other})
            first = model(tokens)
            assert (changed(tokens) - first).abs().max() > 1e-3, setting
            assert torch.equal(model(tokens), first), f"{setting}: two models share something"

    def test_all_shared_weights_stay_bit_for_bit_equal(self, name: str, strangers: str):
        settings = [member_facts.resolved(self.family, name), family.resolve(self.family, strangers)]
        settings += [
            member_facts.resolved(self.family, name, **{setting: other})
            for setting, (_, other) in member_facts.turns(self.family, name).items()
        ]
        settings += [family.resolve(self.family, each) for each in family.members(self.family)]
        models = [dict(small_model(self.family, each).named_parameters()) for each in settings]
        for one, two in pairwise(models):
            own = OWN[self.family]
            assert {key for key in one if own not in key} == {key for key in two if own not in key}
            for key in one.keys() & two.keys():
                if own in key and one[key].ndim < 2:
                    continue  # where such numbers start may be the member's setting
                assert one[key].shape != two[key].shape or torch.equal(one[key], two[key]), key

    def test_a_wrong_setting_says_what_is_wrong(self, name: str):
        member_facts.wrong_settings_are_named(self.family, name)

    @torch.no_grad()
    def test_bf16_is_close_to_float32(self, name: str):
        model, tokens = self.loud(name), text()
        exact = model(tokens)
        with torch.autocast("cpu", torch.bfloat16):
            rounded = model(tokens)
        assert (rounded - exact).norm() < 0.05 * exact.norm()

    def test_it_compiles_without_a_graph_break(self, name: str, unchecked: None):
        model, tokens = self.loud(name), text()
        compiled = torch.compile(model, fullgraph=True, dynamic=False, backend="aot_eager")
        features = compiled(tokens)
        torch.testing.assert_close(features, model(tokens), rtol=1e-4, atol=1e-4)
        features.square().sum().backward()

    @pytest.mark.long
    def test_compiled_code_learns_the_same(self, name: str, unchecked: None):
        model, tokens = self.loud(name), text()
        model.nats(tokens, tokens.roll(-1, 1)).mean().backward()
        expected = {key: p.grad for key, p in model.named_parameters()}
        model.zero_grad()
        for block in model.blocks:
            block.compile(dynamic=False, fullgraph=True)
        model.nats(tokens, tokens.roll(-1, 1)).mean().backward()
        for key, parameter in model.named_parameters():
            torch.testing.assert_close(parameter.grad, expected[key], rtol=1e-3, atol=1e-5, msg=key)
