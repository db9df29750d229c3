"""What every member of `attention` must do. Members are found, not listed."""

from typing import TypeVar

import member_facts
import pytest
import torch
from model_part import SIZES, ModelPart
from torch import Tensor, nn

from onechange import family
from onechange.attention import Attention
from onechange.first_weights import fill
from onechange.initialization.gpt2 import Gpt2Initialization
from onechange.position import Position

Part = TypeVar("Part", bound=nn.Module)
POSITIONS = [*family.members("position"), "stranger"]


class TestAttention(ModelPart):
    family = "attention"

    @torch.no_grad()
    @pytest.mark.parametrize("position", POSITIONS)
    def test_every_position_works_with_it(self, name: str, position: str, strangers: str):
        attention = self.member(name)
        where = placed(position)
        x = drawn(2, SIZES.window)
        whole = attended(attention, x, where)
        for length in (1, 9):
            part = attended(attention, x[:, :length], where)
            torch.testing.assert_close(part, whole[:, :length], rtol=1e-5, atol=1e-6)

    @torch.no_grad()
    def test_a_bias_acts(self, name: str, strangers: str):
        attention, x = self.member(name), drawn(2, 9)
        flat, steep = (
            family.build("position", family.resolve("position", {"name": strangers, "steep": steep}), SIZES)
            for steep in (0.0, 3.0)
        )
        none = placed("none")
        unbiased = attended(attention, x, none)
        torch.testing.assert_close(attended(attention, x, flat), unbiased, rtol=1e-5, atol=1e-6)
        assert (attended(attention, x, steep) - unbiased).abs().max() > 1e-2

    @torch.no_grad()
    @pytest.mark.parametrize("position", POSITIONS)
    def test_weights_are_how_much_of_each_value_is_taken(self, name: str, position: str, strangers: str):
        attention = self.member(name)
        where = placed(position)
        places, x = torch.arange(11), drawn(2, 11)
        bias = where.bias(places, places)
        weights = attention.weights(x, where, places, bias)
        assert weights.shape == (2, SIZES.heads, 11, 11) and weights.dtype == torch.float32
        assert (weights >= 0).all()
        torch.testing.assert_close(weights.sum(-1), torch.ones(2, SIZES.heads, 11))
        future = torch.ones(11, 11, dtype=torch.bool).triu(1)
        assert not weights[..., future].any()
        if attention.reach is not None:
            assert not weights[..., torch.ones(11, 11, dtype=torch.bool).tril(-attention.reach)].any()
            assert (weights[..., attention.reach - 1, 0] > 0).all(), "the reach is the largest there is"
        else:
            assert (weights[..., -1, 0] > 0).all()

    @torch.no_grad()
    @pytest.mark.parametrize("leading", [(), (3,), (2, 3), (2, 1, 2)], ids=len)
    def test_any_leading_dimensions(self, name: str, leading: tuple[int, ...]):
        attention, where = self.member(name), placed("rope")
        x = drawn(*leading, 9)
        flat = attended(attention, x.reshape(-1, 9, SIZES.width), where)
        torch.testing.assert_close(attended(attention, x, where), flat.reshape(x.shape), rtol=1e-5, atol=1e-6)
        weights = attention.weights(x, where, torch.arange(9))
        assert weights.shape == (*leading, SIZES.heads, 9, 9)

    @torch.no_grad()
    def test_texts_may_stand_at_positions_of_their_own(self, name: str):
        attention, where = self.member(name), placed("rope")
        x = drawn(3, 9)
        places = torch.stack([torch.arange(9), torch.arange(9) + 40, torch.arange(0, 27, 3)])
        found, weights = attention(x, where, places), attention.weights(x, where, places)
        for row in range(3):
            one = x[row : row + 1]
            torch.testing.assert_close(found[row : row + 1], attention(one, where, places[row]))
            torch.testing.assert_close(weights[row : row + 1], attention.weights(one, where, places[row]))
        assert (found[2] - attended(attention, x, where)[2]).abs().max() > 1e-3

    @torch.no_grad()
    def test_all_that_it_adds_is_written_by_out(self, name: str):
        attention = self.member(name)
        attention.out.weight.zero_()
        none = placed("none")
        assert not attended(attention, torch.ones(2, 5, SIZES.width), none).any()

    def member(self, name: str) -> Attention:
        return filled(family.build("attention", member_facts.resolved("attention", name), SIZES))


def drawn(*shape: int) -> Tensor:
    return torch.randn(*shape, SIZES.width, generator=torch.Generator().manual_seed(0))


def placed(name: str) -> Position:
    return filled(family.build("position", family.resolve("position", name), SIZES))


def filled(part: Part) -> Part:
    """Matrices and tables hold whatever was in memory until they are drawn."""
    fill(part, 0, SIZES.layers, Gpt2Initialization(deviation=0.3))
    return part


def attended(attention: Attention, x: Tensor, position: Position) -> Tensor:
    places = torch.arange(x.shape[-2])
    return attention(x, position, places, position.bias(places, places))
