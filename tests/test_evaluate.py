"""An evaluation scores every token once, in windows that do not overlap, whatever the batch."""

import numpy as np
import pytest
import torch
from torch import Tensor

from onechange import evaluate


def remembered(seen: list[tuple[Tensor, Tensor]]) -> evaluate.Nats:
    def nats(tokens: Tensor, targets: Tensor) -> Tensor:
        seen.append((tokens, targets))
        return (1000.0 * tokens + targets).float()

    return nats


@pytest.mark.parametrize("rows", [1, 3, 64])
@pytest.mark.parametrize("count", [1, 4, 5, 8, 9, 50])
def test_every_token_is_scored_once_from_the_token_before(count: int, rows: int):
    ids = np.arange(1, count + 1)
    seen: list[tuple[Tensor, Tensor]] = []
    found = evaluate.loss(remembered(seen), ids, np.array([7, 99]), 4, rows)
    before = np.concatenate([[99], ids[:-1]])
    assert found == (1000 * before + ids).mean()
    assert {(tuple(tokens.shape), tuple(targets.shape)) for tokens, targets in seen} == {((rows, 4),) * 2}
    inputs = torch.cat([tokens.flatten() for tokens, _ in seen]).tolist()
    assert inputs[:count] == before.tolist()


def test_sums_are_float64():
    """A million times a number that float32 cannot add up exactly."""
    found = evaluate.loss(
        lambda x, y: torch.full(x.shape, 0.1), np.zeros(10**6, int), np.zeros(1, int), 100, 1000
    )
    assert found == pytest.approx(float(np.float32(0.1)), rel=1e-14)
