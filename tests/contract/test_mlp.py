"""What every member of `mlp` must do. Members are found, not listed."""

import member_facts
import torch
from model_part import SIZES, ModelPart

from onechange import family


class TestMlp(ModelPart):
    family = "mlp"

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
