"""A table of its own scores. Press and Wolf 2016, section 2."""

from typing import Any

import torch

from onechange.embedding.untied import UntiedEmbedding
from onechange.first_weights import fill
from onechange.initialization.gpt2 import Gpt2Initialization
from onechange.model import Model, parameter_count
from onechange.sizes import Sizes
from small_models import usual_parts

turns: dict[str, Any] = {}
text_length = 8

SIZES = Sizes(layers=2, heads=2, width=8, window=8, vocabulary=11)


def model(embedding: str) -> Model:
    made = Model(SIZES, usual_parts(embedding=embedding))
    fill(made, 0, 2, Gpt2Initialization())
    return made


def test_a_second_table_of_a_row_per_token():
    tied, untied = (dict(model(name).named_parameters()) for name in ("tied", "untied"))
    assert untied.keys() - tied.keys() == {"unembedding.weight"} and tied.keys() <= untied.keys()
    assert untied["unembedding.weight"].shape == (11, 8)
    assert parameter_count(model("untied")) == parameter_count(model("tied")) + 11 * 8


@torch.no_grad()
def test_the_two_tables_start_unlike_each_other():
    untied = model("untied")
    one, two = untied.embedding.flatten().double(), untied.scoring.flatten().double()
    assert abs(float(torch.corrcoef(torch.stack([one, two]))[0, 1])) < 0.3


@torch.no_grad()
def test_a_token_is_scored_by_its_row_and_read_by_another():
    untied = model("untied")
    assert isinstance(untied.unembedding, UntiedEmbedding)
    tokens = torch.arange(5)[None]
    features = untied(tokens)
    untied.unembedding.weight[7] = 0
    assert torch.equal(untied(tokens), features)
    assert not untied.logits(features)[..., 7].any() and untied.logits(features)[..., 6].all()
