"""torch's own first weights, compared with what its layers draw."""

from typing import Any

import numpy as np
import pytest
import torch
from scipy import stats
from torch import nn

from onechange.initialization.torch import TorchInitialization
from onechange.seed import stream

turns: dict[str, Any] = {}
text_length = 8


def drawn(key: str, shape: tuple[int, int] = (200, 100)) -> np.ndarray:
    return TorchInitialization().draw(key, shape, 6, stream(0, "weights", key))


@pytest.mark.parametrize(
    "key", ["blocks.0.mlp.hidden.weight", "blocks.5.mlp.out.weight", "unembedding.weight"]
)
@pytest.mark.parametrize("shape", [(200, 100), (50, 400)], ids=str)
def test_a_matrix_is_drawn_as_torch_s_linear_layer(key: str, shape: tuple[int, int]):
    torch.manual_seed(0)
    theirs = nn.Linear(shape[1], shape[0], bias=False).weight.detach().numpy()
    ours = drawn(key, shape)
    assert stats.kstest(ours.flatten(), theirs.flatten()).pvalue > 0.01
    bound = 1 / np.sqrt(shape[1])
    for found in (ours, theirs):
        assert 0.999 * bound < np.abs(found).max() <= bound * (1 + 1e-6)  # theirs are rounded to float32


@pytest.mark.parametrize("key", ["embedding", "position.table"])
def test_a_table_is_drawn_as_torch_s_embedding(key: str):
    torch.manual_seed(0)
    theirs = nn.Embedding(200, 100).weight.detach().numpy()
    assert stats.kstest(drawn(key).flatten(), theirs.flatten()).pvalue > 0.01
    assert stats.kstest(drawn(key).flatten(), "norm").pvalue > 0.01
