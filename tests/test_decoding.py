"""Rows of text, each against the model run on that text alone."""

import numpy as np
import pytest
import torch

from onechange.decoding import Decoder, Recomputing
from onechange.model import Model
from small_models import logits_after, small_model

VOCABULARY = 30


def check(found: Decoder, model: Model, texts: dict[int, list[int]]) -> None:
    scores = found.scores()
    assert (scores.dtype, tuple(scores.shape)) == (torch.float32, (found.rows, VOCABULARY))
    for row, ids in texts.items():
        torch.testing.assert_close(scores[row].double(), logits_after(model, ids), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("window", [1, 2, 7, 8, 40])
def test_every_row_is_scored_as_if_it_were_alone(window: int) -> None:
    """Texts of unequal length begin in some rows while others go on; one row is never begun."""
    model = small_model(VOCABULARY, window).eval()
    chance = np.random.default_rng(3)
    found = Recomputing(model, 5)
    texts: dict[int, list[int]] = {}

    def kept(ids: list[int]) -> list[int]:
        return ids if len(ids) <= window else ids[len(ids) - max(1, window // 2) :]

    for step in range(30):
        if step in (0, 4, 5, 19):
            begun = {
                row: chance.integers(0, VOCABULARY, 1 + 5 * row) for row in range(4) if (row + step) % 2 == 0
            }
            found.begin(begun)
            texts |= {row: kept(ids.tolist()) for row, ids in begun.items()}
        check(found, model, texts)
        tokens = chance.integers(0, VOCABULARY, 5)
        found.append(tokens)
        texts = {row: kept([*ids, int(tokens[row])]) for row, ids in texts.items()}
    assert len(texts) == 4
