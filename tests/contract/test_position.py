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
    def test_a_text_of_four_windows_goes_on_as_a_shorter_one_began(self, name: str):
        """A member that says that it has more positions than the window has them, in the whole model."""
        model, longest = self.loud(name), built(name).longest
        if longest == SIZES.window:
            with pytest.raises(IndexError):
                model(text(SIZES.window + 1))
            return
        assert longest is None or longest >= 8 * SIZES.window
        long = text(4 * SIZES.window)
        features = model(long)
        assert features.isfinite().all()
        torch.testing.assert_close(model(long[:, :-9]), features[:, :-9], rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(
            model(long[:, : SIZES.window]), features[:, : SIZES.window], rtol=1e-5, atol=1e-5
        )

    @torch.no_grad()
    def test_every_row_of_a_batch_may_have_positions_of_its_own(self, name: str):
        position = built(name)
        x = torch.randn(3, SIZES.heads, 5, SIZES.head_width, generator=torch.Generator().manual_seed(0))
        places = torch.stack([torch.arange(5), torch.arange(5) + 7, torch.tensor([4, 4, 0, 2, 19])])
        found = position.rotate(x, places[:, None])
        for row in range(3):
            torch.testing.assert_close(found[row], position.rotate(x[row], places[row]))

    @torch.no_grad()
    @pytest.mark.parametrize("cast", [False, True])
    def test_a_bias_is_finite_and_float32_whatever_the_precision(self, name: str, cast: bool):
        everywhere, position = torch.arange(SIZES.window), built(name)
        exact = position.bias(everywhere[5:], everywhere)
        position = position.to(torch.bfloat16) if cast else position
        with torch.autocast("cpu", torch.bfloat16):
            found = position.bias(everywhere[5:], everywhere)
        assert (found is None) == (exact is None)
        if found is not None and exact is not None:
            assert (found.dtype, found.shape) == (
                torch.float32,
                (SIZES.heads, SIZES.window - 5, SIZES.window),
            )
            assert found.isfinite().all()
            torch.testing.assert_close(found, exact, rtol=0.05 * cast, atol=0.05 * cast)

    def test_shapes_alone_can_be_asked_for(self, name: str):
        """On the device ``meta`` nothing is allocated: so a checkpoint's reader and a plan build it."""
        settings = member_facts.resolved("position", name)
        with torch.device("meta"):
            position = family.build("position", settings, SIZES)
        found = {key: (value.shape, value.dtype) for key, value in position.named_parameters()}
        there = {key: (value.shape, value.dtype) for key, value in built(name).named_parameters()}
        assert found == there
        assert all(tensor.is_meta for tensor in (*position.parameters(), *position.buffers()))

    @torch.no_grad()
    def test_turning_keeps_the_type(self, name: str):
        x = torch.randn(2, SIZES.heads, 5, SIZES.head_width)
        for kind in (torch.float32, torch.bfloat16):
            assert built(name).rotate(x.to(kind), torch.arange(5)).dtype == kind
