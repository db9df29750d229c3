"""Learned positions: one row of a table per position, added to the embedding. GPT-2, Radford et al. 2019."""

from typing import Any

import pytest
import torch

from onechange.position.learned import LearnedPosition
from onechange.sizes import Sizes

turns: dict[str, Any] = {}
text_length = 8

SIZES = Sizes(layers=1, heads=2, width=4, window=6, vocabulary=11)


def counted() -> LearnedPosition:
    position = LearnedPosition(SIZES)
    with torch.no_grad():
        position.table.copy_(torch.arange(24.0).view(6, 4))
    return position


def test_the_row_of_each_position_is_added():
    x = torch.full((1, 3, 4), 100.0)
    added = counted().embed(x, torch.tensor([5, 0, 2]))
    assert added.tolist() == [[[120, 121, 122, 123], [100, 101, 102, 103], [108, 109, 110, 111]]]


def test_queries_and_keys_are_left_alone():
    x = torch.randn(1, 2, 3, 2)
    assert counted().rotate(x, torch.arange(3)) is x
    assert counted().bias(torch.arange(3), torch.arange(3)) is None


def test_every_row_learns_on_a_full_window():
    position = counted()
    position.embed(torch.zeros(2, 6, 4), torch.arange(6)).sum().backward()
    assert position.table.grad is not None
    assert position.table.grad.tolist() == [[2.0] * 4] * 6


def test_there_is_no_position_beyond_the_window():
    assert sum(p.numel() for p in counted().parameters()) == 6 * 4
    with pytest.raises(IndexError):
        counted().embed(torch.zeros(1, 1, 4), torch.tensor([6]))
