"""Depth-scaled first weights: less the deeper the block. Zhang et al. 2019, equation 8."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from onechange.initialization.scaled_by_depth import ScaledByDepth
from onechange.seed import stream

turns: dict[str, Any] = {"deviation": (0.02, 0.05)}
text_length = 8


def drawn(key: str, layers: int = 12, **settings: float) -> np.ndarray:
    return ScaledByDepth(**settings).draw(key, (200, 100), layers, stream(0, "weights", key)).flatten()


@pytest.mark.parametrize(("block", "deviation"), [(0, 0.02), (3, 0.01), (8, 0.02 / 3), (15, 0.005)])
@pytest.mark.parametrize("part", ["attention.query", "attention.out", "mlp.hidden", "mlp.out"])
def test_the_block_decides_and_every_matrix_of_it_is_alike(part: str, block: int, deviation: float):
    """Block l, counted from 1, has 0.02 / sqrt(l): the fourth half of the first."""
    found = drawn(f"blocks.{block}.{part}.weight")
    assert stats.kstest(found, "norm", args=(0, deviation)).pvalue > 0.01
    assert stats.kstest(found, "norm", args=(0, 1.05 * deviation)).pvalue < 0.01, "it would be seen"


@pytest.mark.parametrize("key", ["embedding", "position.table", "unembedding.weight"])
def test_what_stands_outside_the_blocks_is_as_the_first_block(key: str):
    assert stats.kstest(drawn(key), "norm", args=(0, 0.02)).pvalue > 0.01


def test_the_number_of_layers_does_not_matter():
    """A deeper model begins with the blocks of a shallower one."""
    for key in ("blocks.1.mlp.out.weight", "blocks.1.mlp.hidden.weight"):
        assert np.array_equal(drawn(key, 2), drawn(key, 24))


def test_a_deviation_out_of_range_is_named():
    with pytest.raises(ValueError, match=r"initialization\.deviation = -1\.0: must be above 0"):
        ScaledByDepth(deviation=-1.0)
