"""Grouped-query attention: neighbouring heads of queries share a head of keys and values. Ainslie et al. 2023."""

from typing import Any

import numpy as np
import pytest
import torch

from onechange.attention.grouped import GroupedAttention
from onechange.attention.heads import HeadsAttention
from onechange.position.none import NoPosition
from onechange.sizes import Sizes
from plain_attention import filled, plain

turns: dict[str, Any] = {
    "groups": (1, 2),
    "query_key_norm": ("none", "rms"),
    "sliding": (0, 3),
    "gate": ("none", "head"),
}
text_length = 8

SIZES = Sizes(layers=1, heads=4, width=16, window=7, vocabulary=5)


def random_input() -> np.ndarray:
    return np.random.default_rng(1).standard_normal((2, 7, 16))


def found(member: torch.nn.Module, x: np.ndarray) -> np.ndarray:
    return member(torch.from_numpy(x).float(), NoPosition(SIZES), torch.arange(7)).detach().numpy()


@pytest.mark.parametrize("groups", [1, 2, 4])
def test_a_plain_softmax_gives_the_same(groups: int):
    (member, weights), x = filled(GroupedAttention(SIZES, groups=groups)), random_input()
    assert weights["key.weight"].shape == weights["value.weight"].shape == (4 * groups, 16)
    np.testing.assert_allclose(found(member, x), plain(weights, x, 4), rtol=1e-4, atol=1e-4)


def test_with_a_group_for_every_head_it_is_multi_head_attention():
    (member, _), x = filled(GroupedAttention(SIZES, groups=4)), random_input()
    heads = HeadsAttention(SIZES)
    heads.load_state_dict(member.state_dict())
    assert np.array_equal(found(member, x), found(heads, x))


def test_one_head_repeated_is_one_group():
    """Multi-head attention whose heads all have the same keys and values."""
    (member, _), x = (
        filled(GroupedAttention(SIZES, groups=1, gate="feature", query_key_norm="rms")),
        random_input(),
    )
    heads, copied = HeadsAttention(SIZES, gate="feature", query_key_norm="rms"), member.state_dict()
    for name in ("key.weight", "value.weight"):
        copied[name] = copied[name].repeat(4, 1)
    heads.load_state_dict(copied)
    np.testing.assert_allclose(found(member, x), found(heads, x), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("groups", [0, 3, 8, -1])
def test_groups_that_do_not_divide_the_heads_are_refused(groups: int):
    with pytest.raises(
        ValueError, match=rf"attention\.groups = {groups}: must divide the number of heads, 4"
    ):
        GroupedAttention(SIZES, groups=groups)
