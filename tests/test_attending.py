"""Attention as a function: any leading dimensions, a mask and a bias, set beside the formula in float64."""

import jaxtyping
import numpy as np
import pytest
import torch
from torch import Tensor

from course_truth import softmax
from onechange import attending


def drawn(*shape: int, seed: int = 0) -> Tensor:
    return torch.from_numpy(np.random.default_rng(seed).standard_normal(shape)).float()


@pytest.mark.parametrize("masked", [False, True])
def test_a_bias_is_added_to_the_scores_of_what_is_seen(masked: bool):
    query, key, value = drawn(2, 3, 5, 8), drawn(2, 3, 7, 8, seed=1), drawn(2, 3, 7, 6, seed=2)
    bias, seen = 3 * drawn(3, 5, 7, seed=3), drawn(5, 7, seed=4) > 0
    seen[:, 0] = True
    q, k, v, added = (each.double().numpy() for each in (query, key, value, bias))
    scores = q @ k.swapaxes(-1, -2) / 8**0.5 + added
    scores = np.where(seen.numpy(), scores, -np.inf) if masked else scores
    found = attending.mix(query, key, value, seen if masked else None, bias)
    np.testing.assert_allclose(found, softmax(scores) @ v, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("leading", [(), (3,), (2, 3)], ids=len)
@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize("reach", [None, 3])
@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16], ids=str)
def test_causal_attention_over_any_leading_dimensions(
    leading: tuple[int, ...], biased: bool, reach: int | None, kind: torch.dtype
):
    query, key, value = (drawn(*leading, 2, 9, 8, seed=seed).to(kind) for seed in range(3))
    bias = drawn(2, 9, 9, seed=3) if biased else None
    q, k, v = (each.double().numpy() for each in (query, key, value))
    scores = q @ k.swapaxes(-1, -2) / 8**0.5 + (0 if bias is None else bias.double().numpy())
    distance = np.subtract.outer(np.arange(9), np.arange(9))
    scores = np.where((distance >= 0) & (distance < (reach or 9)), scores, -np.inf)
    close = 1e-5 if kind == torch.float32 else 0.03
    found = attending.attend(query, key, value, bias, reach)
    assert found.dtype == kind
    np.testing.assert_allclose(found.float(), softmax(scores) @ v, rtol=close, atol=close)
    weights = attending.weights(query, key, bias, reach)
    np.testing.assert_allclose(weights, softmax(scores), rtol=1e-4, atol=1e-5)


def test_queries_and_keys_must_be_as_wide_as_each_other():
    with pytest.raises(jaxtyping.TypeCheckError):
        attending.mix(drawn(5, 8), drawn(7, 6), drawn(7, 6))
    with pytest.raises(jaxtyping.TypeCheckError):
        attending.mix(drawn(5, 8), drawn(7, 8), drawn(7, 8), torch.ones(7, 5, dtype=torch.bool))
