"""What every member of `attention` must do. Members are found, not listed."""

import member_facts
import pytest
import torch
from model_part import SIZES, ModelPart
from torch import Tensor

from onechange import family
from onechange.attention import Attention
from onechange.position import Position

POSITIONS = [*family.members("position"), "stranger"]


class TestAttention(ModelPart):
    family = "attention"

    @torch.no_grad()
    @pytest.mark.parametrize("position", POSITIONS)
    def test_every_position_works_with_it(self, name: str, position: str, strangers: str):
        attention = self.member(name)
        where = drawn(position)
        x = torch.randn(2, SIZES.window, SIZES.width, generator=torch.Generator().manual_seed(0))
        whole = attended(attention, x, where)
        for length in (1, 9):
            part = attended(attention, x[:, :length], where)
            torch.testing.assert_close(part, whole[:, :length], rtol=1e-5, atol=1e-6)

    @torch.no_grad()
    def test_a_bias_acts(self, name: str, strangers: str):
        attention, x = self.member(name), torch.randn(2, 9, SIZES.width)
        flat, steep = (
            family.build("position", family.resolve("position", {"name": strangers, "steep": steep}), SIZES)
            for steep in (0.0, 3.0)
        )
        none = family.build("position", family.resolve("position", "none"), SIZES)
        unbiased = attended(attention, x, none)
        torch.testing.assert_close(attended(attention, x, flat), unbiased, rtol=1e-5, atol=1e-6)
        assert (attended(attention, x, steep) - unbiased).abs().max() > 1e-2

    @torch.no_grad()
    @pytest.mark.parametrize("position", POSITIONS)
    def test_weights_are_how_much_of_each_value_is_taken(self, name: str, position: str, strangers: str):
        attention = self.member(name)
        where = drawn(position)
        places, x = torch.arange(11), torch.randn(2, 11, SIZES.width)
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
    def test_all_that_it_adds_is_written_by_out(self, name: str):
        attention = self.member(name)
        attention.out.weight.zero_()
        none = family.build("position", family.resolve("position", "none"), SIZES)
        assert not attended(attention, torch.ones(2, 5, SIZES.width), none).any()

    def member(self, name: str) -> Attention:
        return family.build("attention", member_facts.resolved("attention", name), SIZES)


def drawn(name: str) -> Position:
    """The position member with its defaults, its matrices and tables drawn."""
    position: Position = family.build("position", family.resolve("position", name), SIZES)
    for parameter in position.parameters():
        if parameter.ndim > 1:
            parameter.normal_(generator=torch.Generator().manual_seed(0))
    return position


def attended(attention: Attention, x: Tensor, position: Position) -> Tensor:
    places = torch.arange(x.shape[1])
    return attention(x, position, places, position.bias(places, places))
