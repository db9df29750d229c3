"""What every member of `placement` must do. Members are found, not listed."""

from functools import partial

import member_facts
import pytest
import torch
from model_part import SIZES, ModelPart, parts
from torch import Tensor

from onechange import family
from onechange.first_weights import fill
from onechange.initialization.gpt2 import Gpt2Initialization
from onechange.model import Model
from onechange.norm import Norm
from onechange.placement import Placement

NORMS = [*family.members("norm"), "stranger"]


def built(name: str, norm: str = "layer") -> Placement:
    new = partial(family.build, "norm", family.resolve("norm", norm), SIZES)
    return family.build("placement", member_facts.resolved("placement", name), SIZES, new)


def stream(seed: int) -> Tensor:
    return torch.randn(2, 5, SIZES.width, generator=torch.Generator().manual_seed(seed))


class TestPlacement(ModelPart):
    family = "placement"

    @torch.no_grad()
    def test_every_token_is_worked_on_apart(self, name: str):
        placement, x, made = built(name), stream(0), stream(1)
        torch.testing.assert_close(placement.before(x)[:, 3:4], placement.before(x[:, 3:4]))
        torch.testing.assert_close(placement.after(x, made)[:, 3:4], placement.after(x[:, 3:4], made[:, 3:4]))

    @torch.no_grad()
    def test_what_goes_on_follows_from_the_stream_and_from_what_was_made(self, name: str):
        placement, x, made = built(name), stream(0), stream(1)
        on = placement.after(x, made)
        assert on.shape == x.shape
        assert (placement.after(x + stream(2), made) - on).abs().amax(-1).min() > 1e-2
        assert (placement.after(x, made + stream(2)) - on).abs().amax(-1).min() > 1e-2

    @torch.no_grad()
    def test_the_stream_stays_float32_under_bf16(self, name: str):
        placement = built(name)
        with torch.autocast("cpu", torch.bfloat16):
            assert placement.before(stream(0)).dtype == torch.float32
            assert placement.after(stream(0), stream(1).bfloat16()).dtype == torch.float32

    @torch.no_grad()
    @pytest.mark.parametrize("norm", NORMS)
    def test_every_norm_works_with_it(self, name: str, norm: str, strangers: str):
        settings = member_facts.resolved("placement", name)
        model = Model(SIZES, {**parts("placement", settings), "norm": family.resolve("norm", norm)})
        fill(model, 0, SIZES.layers, Gpt2Initialization())
        tokens = torch.arange(SIZES.window)[None]
        scores = model.logits(model(tokens))
        assert scores.isfinite().all() and scores.std(-1).min() > 0
        kind = type(family.build("norm", family.resolve("norm", norm), SIZES))
        found = [part for part in model.modules() if isinstance(part, kind)]
        assert len(found) >= 2 * SIZES.layers, "a norm for every part of every block"
        assert {part for part in model.modules() if isinstance(part, Norm)} == set(found)
