"""One table reads and scores. Press and Wolf 2016, section 2."""

from typing import Any

import torch
from torch import nn

from onechange.embedding.tied import TiedEmbedding
from onechange.embedding.untied import UntiedEmbedding
from onechange.first_weights import fill
from onechange.initialization.gpt2 import Gpt2Initialization
from onechange.model import Model
from onechange.sizes import Sizes
from small_models import usual_parts

turns: dict[str, Any] = {}
text_length = 8

SIZES = Sizes(layers=1, heads=2, width=8, window=8, vocabulary=11)


def model(embedding: str) -> Model:
    made = Model(SIZES, usual_parts(embedding=embedding))
    fill(made, 0, 1, Gpt2Initialization())
    return made


def test_the_table_that_reads_is_the_one_that_scores():
    tied = model("tied")
    assert tied.scoring is tied.embedding
    assert not list(TiedEmbedding(SIZES).parameters())


def test_its_gradient_is_that_of_reading_and_that_of_scoring():
    """With an untied table of the same numbers the two come apart."""
    tied, untied = model("tied"), model("untied")
    assert isinstance(untied.unembedding, UntiedEmbedding)
    with torch.no_grad():
        untied.unembedding.weight.copy_(untied.embedding)
    tokens = torch.arange(8)[None]
    for each in (tied, untied):
        each.nats(tokens, tokens + 1).sum().backward()
    read, scored = gradient(untied.embedding), gradient(untied.unembedding.weight)
    assert read.any() and scored.any()
    torch.testing.assert_close(gradient(tied.embedding), read + scored)


def gradient(parameter: nn.Parameter) -> torch.Tensor:
    assert parameter.grad is not None
    return parameter.grad
