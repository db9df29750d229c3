"""What every member of `norm` must do. Members are found, not listed."""

import member_facts
import torch
from model_part import SIZES, ModelPart

from onechange import family


class TestNorm(ModelPart):
    family = "norm"

    @torch.no_grad()
    def test_every_token_is_normalised_apart(self, name: str):
        norm = family.build("norm", member_facts.resolved("norm", name), SIZES)
        x = torch.randn(2, 5, SIZES.width, generator=torch.Generator().manual_seed(0))
        torch.testing.assert_close(norm(x)[:, 3:4], norm(x[:, 3:4]), rtol=1e-6, atol=1e-6)

    @torch.no_grad()
    def test_the_size_of_the_input_does_not_matter(self, name: str):
        norm = family.build("norm", member_facts.resolved("norm", name), SIZES)
        x = torch.randn(2, 5, SIZES.width, generator=torch.Generator().manual_seed(0))
        torch.testing.assert_close(norm(1000 * x), norm(x), rtol=1e-3, atol=1e-3)
