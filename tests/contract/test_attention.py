"""What every member of `attention` must do. Members are found, not listed."""

import member_facts
import pytest
import torch
from model_part import SIZES, ModelPart

from onechange import family
from onechange.position import Position

POSITIONS = [*family.members("position"), "stranger"]


class TestAttention(ModelPart):
    family = "attention"

    @torch.no_grad()
    @pytest.mark.parametrize("position", POSITIONS)
    def test_every_position_works_with_it(self, name: str, position: str, strangers: str):
        attention = family.build("attention", member_facts.resolved("attention", name), SIZES)
        where: Position = family.build("position", family.resolve("position", position), SIZES)
        positions = torch.arange(SIZES.window)
        x = torch.randn(2, SIZES.window, SIZES.width, generator=torch.Generator().manual_seed(0))
        whole = attention(x, where, positions)
        for length in (1, 9):
            part = attention(x[:, :length], where, positions[:length])
            torch.testing.assert_close(part, whole[:, :length], rtol=1e-5, atol=1e-6)

    @torch.no_grad()
    def test_a_bias_acts(self, name: str, strangers: str):
        attention = family.build("attention", member_facts.resolved("attention", name), SIZES)
        positions, x = torch.arange(9), torch.randn(2, 9, SIZES.width)
        flat, steep = (
            family.build("position", family.resolve("position", {"name": strangers, "steep": steep}), SIZES)
            for steep in (0.0, 3.0)
        )
        none = family.build("position", family.resolve("position", "none"), SIZES)
        unbiased = attention(x, none, positions)
        torch.testing.assert_close(attention(x, flat, positions), unbiased, rtol=1e-5, atol=1e-6)
        assert (attention(x, steep, positions) - unbiased).abs().max() > 1e-2

    @torch.no_grad()
    def test_all_that_it_adds_is_written_by_out(self, name: str):
        attention = family.build("attention", member_facts.resolved("attention", name), SIZES)
        attention.out.weight.zero_()
        none = family.build("position", family.resolve("position", "none"), SIZES)
        assert not attention(torch.ones(2, 5, SIZES.width), none, torch.arange(5)).any()
