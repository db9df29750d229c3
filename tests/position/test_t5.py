"""T5's relative positions: the buckets of transformers' T5, one bias per bucket and head. Raffel et al. 2019."""

from typing import Any

import pytest
import torch

from onechange.position.t5 import T5Position
from onechange.sizes import Sizes

turns: dict[str, Any] = {"buckets": (32, 8), "farthest": (128, 20)}
text_length = 24

SIZES = Sizes(layers=1, heads=3, width=6, window=16, vocabulary=5)


@pytest.mark.parametrize(
    ("buckets", "farthest"),
    [(32, 128), (32, 256), (8, 20), (7, 100), (2, 2), (3, 1000), (64, 2048), (128, 65)],
)
def test_the_buckets_are_those_of_transformers(buckets: int, farthest: int):
    from transformers.models.t5.modeling_t5 import T5Attention

    distances = torch.arange(20_000)
    theirs = T5Attention._relative_position_bucket(-distances, False, buckets, farthest)
    ours = T5Position(SIZES, buckets=buckets, farthest=farthest).bucket(distances)
    assert torch.equal(ours, theirs)


def test_near_distances_stand_alone_and_far_ones_together():
    bucket = T5Position(SIZES).bucket(torch.tensor([0, 1, 15, 16, 17, 18, 19, 112, 113, 127, 128, 9999]))
    # the first of the logarithmic buckets: 16 · 8^(1/16) = 18.2; the last: 16 · 8^(15/16) = 112.4
    assert bucket.tolist() == [0, 1, 15, 16, 16, 16, 17, 30, 31, 31, 31, 31]


@torch.no_grad()
def test_the_bias_is_the_table_s_entry_of_the_bucket_and_the_head():
    position = T5Position(SIZES, buckets=4, farthest=8)
    position.table.copy_(torch.arange(12.0).view(4, 3))
    found = position.bias(torch.tensor([0, 9]), torch.tensor([0, 7, 8, 9]))
    # distances 9, 2, 1, 0 of the second query: buckets 3, 2, 1, 0
    assert found[:, 1].tolist() == [[9, 6, 3, 0], [10, 7, 4, 1], [11, 8, 5, 2]]
    assert found[:, 0, 0].tolist() == [0, 1, 2]


@torch.no_grad()
def test_it_is_the_bias_of_transformers_t5():
    from transformers import T5Config
    from transformers.models.t5.modeling_t5 import T5Attention

    theirs = T5Attention(
        T5Config(is_decoder=True, num_heads=3, d_model=6, d_kv=2), has_relative_attention_bias=True
    )
    ours = T5Position(SIZES)
    ours.table.copy_(theirs.relative_attention_bias.weight)
    seen = torch.ones(200, 200).tril().bool()
    places = torch.arange(200)
    assert torch.equal(ours.bias(places, places)[:, seen], theirs.compute_bias(200, 200)[0][:, seen])


def test_each_entry_learns_from_the_pairs_of_its_bucket():
    position, places = T5Position(SIZES, buckets=4, farthest=8), torch.arange(6)
    with torch.no_grad():
        position.table.zero_()
    found = position.bias(places, places)
    assert found is not None
    found[1].tril().sum().backward()
    slope = position.table.grad
    assert slope is not None
    # pairs: 6 at distance 0, 5 at 1, 4 and 3 at 2 and 3, 2 and 1 at 4 and 5
    assert slope[:, 1].tolist() == [6, 5, 7, 3]
    assert not slope[:, [0, 2]].any()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"buckets": 1}, r"position\.buckets = 1: must be at least 2"),
        ({"farthest": 16}, r"position\.farthest = 16: must be above 16, half of position\.buckets = 32"),
    ],
)
def test_buckets_that_cannot_be_are_refused(settings: dict[str, int], message: str):
    with pytest.raises(ValueError, match=message):
        T5Position(SIZES, **settings)
