"""What every member of `mlp` must do. Members are found, not listed."""

import member_facts
import msgspec
import pytest
import torch
from model_part import SIZES, ModelPart

from onechange import family
from onechange.mlp import Mlp
from onechange.model import parameter_count

WIDTHS = [*range(32, 1025, 32), 50, 100, 200, 300, 13, 14, 17]
"""A gated member has three matrices: for some widths below 13 no whole number is within 1% of 8 · width²."""


class TestMlp(ModelPart):
    family = "mlp"

    @pytest.mark.parametrize("width", WIDTHS)
    def test_by_default_all_have_as_many_parameters(self, name: str, width: int):
        with torch.device("meta"):
            mlp = usual(name, width)
        assert parameter_count(mlp) == pytest.approx(8 * width**2, rel=0.01)

    @pytest.mark.parametrize("hidden", [1, 24, 31])
    def test_as_wide_inside_as_asked(self, name: str, hidden: int):
        mlp = usual(name, SIZES.width, hidden=hidden)
        assert mlp.out.weight.shape == (SIZES.width, hidden)
        assert mlp(torch.ones(2, SIZES.width)).shape == (2, SIZES.width)

    def test_a_width_below_0_is_named(self, name: str):
        with pytest.raises(ValueError, match=r"mlp\.hidden = -4: must be at least 1, or 0"):
            usual(name, SIZES.width, hidden=-4)

    def test_a_multiple_of_8_where_that_costs_no_more_than_1_percent(self, name: str):
        for width in (96, 128, 256, 384, 512, 768, 1024):
            with torch.device("meta"):
                assert usual(name, width).out.in_features % 8 == 0

    @torch.no_grad()
    def test_every_token_is_worked_on_apart(self, name: str):
        mlp = family.build("mlp", member_facts.resolved("mlp", name), SIZES)
        x = torch.randn(2, 5, SIZES.width, generator=torch.Generator().manual_seed(0))
        torch.testing.assert_close(mlp(x)[:, 3:4], mlp(x[:, 3:4]), rtol=1e-5, atol=1e-6)

    @torch.no_grad()
    def test_all_that_it_adds_is_written_by_out(self, name: str):
        mlp = family.build("mlp", member_facts.resolved("mlp", name), SIZES)
        mlp.out.weight.zero_()
        assert not mlp(torch.ones(2, 5, SIZES.width)).any()


def usual(name: str, width: int, **settings: int) -> Mlp:
    resolved = family.resolve("mlp", {"name": name, **settings})
    return family.build("mlp", resolved, msgspec.structs.replace(SIZES, width=width, heads=1))
