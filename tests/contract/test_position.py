"""What every member of `position` must do. Members are found, not listed."""

import member_facts
import pytest
import torch
from model_part import SIZES, ModelPart, text

from onechange import family
from onechange.position import Position


def built(name: str) -> Position:
    position: Position = family.build("position", member_facts.resolved("position", name), SIZES)
    with torch.no_grad():
        for parameter in position.parameters():
            parameter.normal_(generator=torch.Generator().manual_seed(0))
    return position


class TestPosition(ModelPart):
    family = "position"

    @torch.no_grad()
    def test_positions_count_from_0_unless_given(self, name: str):
        model = self.loud(name)
        assert torch.equal(model(text(9)), model(text(9), torch.arange(9)))
        model(text(9), torch.arange(9) + SIZES.window - 9)

    @torch.no_grad()
    @pytest.mark.parametrize("first", [1, 6, SIZES.window - 1])
    def test_what_is_given_decides_not_where_it_stands(self, name: str, first: int):
        """One token alone at its position is treated as it is within the text: what a cache needs."""
        position, everywhere = built(name), torch.arange(SIZES.window)
        x = torch.randn(2, SIZES.window, SIZES.width, generator=torch.Generator().manual_seed(0))
        torch.testing.assert_close(
            position.embed(x[:, first:], everywhere[first:]), position.embed(x, everywhere)[:, first:]
        )
        heads = x.unflatten(2, (SIZES.heads, SIZES.head_width)).transpose(1, 2)
        torch.testing.assert_close(
            position.rotate(heads[:, :, first:], everywhere[first:]),
            position.rotate(heads, everywhere)[:, :, first:],
        )
        whole, part = position.bias(everywhere, everywhere), position.bias(everywhere[first:], everywhere)
        assert (whole is None) == (part is None)
        if whole is not None and part is not None:
            assert whole.shape == (SIZES.heads, SIZES.window, SIZES.window)
            torch.testing.assert_close(part, whole[:, first:])

    @torch.no_grad()
    def test_turning_keeps_the_type(self, name: str):
        x = torch.randn(2, SIZES.heads, 5, SIZES.head_width)
        for kind in (torch.float32, torch.bfloat16):
            assert built(name).rotate(x.to(kind), torch.arange(5)).dtype == kind
