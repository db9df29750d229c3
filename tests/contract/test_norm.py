"""What every member of `norm` must do. Members are found, not listed."""

import member_facts
import msgspec
import pytest
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
    @pytest.mark.parametrize("leading", [(), (3,), (2, 5), (2, 3, 4)], ids=len)
    def test_any_leading_dimensions(self, name: str, leading: tuple[int, ...]):
        norm = family.build("norm", member_facts.resolved("norm", name), SIZES)
        x = torch.randn(*leading, SIZES.width, generator=torch.Generator().manual_seed(0))
        flat = norm(x.reshape(1, -1, SIZES.width))
        torch.testing.assert_close(norm(x), flat.reshape(x.shape), rtol=1e-6, atol=1e-6)

    @torch.no_grad()
    @pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16], ids=str)
    @pytest.mark.parametrize("autocast", [False, True], ids=["plain", "autocast"])
    def test_the_type_stays_what_it_was(self, name: str, kind: torch.dtype, autocast: bool):
        """So the residual stream is float32 wherever a norm stands."""
        norm = family.build("norm", member_facts.resolved("norm", name), SIZES)
        with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
            assert norm(torch.ones(2, 5, SIZES.width, dtype=kind)).dtype == kind

    @torch.no_grad()
    @pytest.mark.parametrize("width", [16, 1000])
    def test_bf16_is_rounded_once_at_the_end(self, name: str, width: int):
        """Statistics in float32: bf16 features give what float32 gives for the same numbers, rounded."""
        norm = family.build(
            "norm", member_facts.resolved("norm", name), msgspec.structs.replace(SIZES, width=width)
        )
        x = torch.randn(64, width, generator=torch.Generator().manual_seed(0)).mul(3).add(2).bfloat16()
        same = norm(x) == norm(x.float()).bfloat16()
        assert same.float().mean() > 0.995
