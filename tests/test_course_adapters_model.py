"""What a course on language models asks of a model (Stanford CS336, assignment 1), by plain calls of the library.

Its tests call adapters of these names and signatures. Here are some, each a few lines, set beside the same formulas in
float64 with numbers of our own. Ids, weights and features are tensors; ``...`` are any leading dimensions.
"""

from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

import course_truth as truth
from onechange import attending, family
from onechange.attention.heads import HeadsAttention
from onechange.mlp.swiglu import SwigluMlp
from onechange.model import Block, Model
from onechange.norm.rms import RmsNorm
from onechange.position import Position
from onechange.position.none import NoPosition
from onechange.position.rope import RotaryPosition
from onechange.sizes import Sizes

Weights = dict[str, Tensor]


def sizes(width: int, heads: int = 1, window: int = 1, layers: int = 1, vocabulary: int = 1) -> Sizes:
    return Sizes(layers, heads, width, window, vocabulary)


def parts(d_ff: int, theta: float) -> dict[str, Any]:
    chosen = {
        "position": {"name": "rope", "theta": theta},
        "norm": {"name": "rms", "epsilon": 1e-5},
        "placement": "pre",
        "mlp": {"name": "swiglu", "hidden": d_ff},
        "attention": "heads",
        "embedding": "untied",
    }
    return {kind: family.resolve(kind, value) for kind, value in chosen.items()}


BLOCK = {
    "attention.query.weight": "attn.q_proj.weight",
    "attention.key.weight": "attn.k_proj.weight",
    "attention.value.weight": "attn.v_proj.weight",
    "attention.out.weight": "attn.output_proj.weight",
    "attention_norm.norm.gain": "ln1.weight",
    "mlp.gate.weight": "ffn.w1.weight",
    "mlp.out.weight": "ffn.w2.weight",
    "mlp.hidden.weight": "ffn.w3.weight",
    "mlp_norm.norm.gain": "ln2.weight",
}
"""Our names of a block's weights, and the course's."""
MODEL = {
    "embedding": "token_embeddings.weight",
    "norm.gain": "ln_final.weight",
    "unembedding.weight": "lm_head.weight",
}


# The adapters


def run_linear(d_in: int, d_out: int, weights: Tensor, in_features: Tensor) -> Tensor:
    return F.linear(in_features, weights)


def run_embedding(vocab_size: int, d_model: int, weights: Tensor, token_ids: Tensor) -> Tensor:
    return F.embedding(token_ids, weights)


def run_silu(in_features: Tensor) -> Tensor:
    return F.silu(in_features)


def run_softmax(in_features: Tensor, dim: int) -> Tensor:
    return in_features.softmax(dim)


def run_swiglu(
    d_model: int, d_ff: int, w1_weight: Tensor, w2_weight: Tensor, w3_weight: Tensor, in_features: Tensor
) -> Tensor:
    mlp = SwigluMlp(sizes(d_model), hidden=d_ff)
    mlp.load_state_dict({"gate.weight": w1_weight, "out.weight": w2_weight, "hidden.weight": w3_weight})
    return mlp(in_features)


def run_rmsnorm(d_model: int, eps: float, weights: Tensor, in_features: Tensor) -> Tensor:
    norm = RmsNorm(sizes(d_model), epsilon=eps)
    norm.load_state_dict({"gain": weights})
    return norm(in_features)


def run_scaled_dot_product_attention(Q: Tensor, K: Tensor, V: Tensor, mask: Tensor | None = None) -> Tensor:
    return attending.mix(Q, K, V, mask)


def run_multihead_self_attention(
    d_model: int,
    num_heads: int,
    q_proj_weight: Tensor,
    k_proj_weight: Tensor,
    v_proj_weight: Tensor,
    o_proj_weight: Tensor,
    in_features: Tensor,
    position: Position | None = None,
    token_positions: Tensor | None = None,
) -> Tensor:
    attention = HeadsAttention(sizes(d_model, num_heads))
    names = (f"{name}.weight" for name in ("query", "key", "value", "out"))
    given = (q_proj_weight, k_proj_weight, v_proj_weight, o_proj_weight)
    attention.load_state_dict(dict(zip(names, given, strict=True)))
    places = torch.arange(in_features.shape[-2]) if token_positions is None else token_positions
    return attention(in_features, position or NoPosition(attention.sizes), places)


def run_multihead_self_attention_with_rope(
    d_model: int,
    num_heads: int,
    max_seq_len: int,
    theta: float,
    q_proj_weight: Tensor,
    k_proj_weight: Tensor,
    v_proj_weight: Tensor,
    o_proj_weight: Tensor,
    in_features: Tensor,
    token_positions: Tensor | None = None,
) -> Tensor:
    rope = RotaryPosition(sizes(d_model, num_heads, max_seq_len), theta=theta)
    weights = (q_proj_weight, k_proj_weight, v_proj_weight, o_proj_weight)
    return run_multihead_self_attention(d_model, num_heads, *weights, in_features, rope, token_positions)


def run_rope(
    d_k: int, theta: float, max_seq_len: int, in_query_or_key: Tensor, token_positions: Tensor
) -> Tensor:
    rope = RotaryPosition(sizes(d_k, window=max_seq_len), theta=theta)
    return rope.rotate(in_query_or_key, token_positions)


def run_transformer_block(
    d_model: int,
    num_heads: int,
    d_ff: int,
    max_seq_len: int,
    theta: float,
    weights: Weights,
    in_features: Tensor,
) -> Tensor:
    shared, chosen = sizes(d_model, num_heads, max_seq_len), parts(d_ff, theta)
    block = Block(shared, chosen)
    block.load_state_dict({ours: weights[theirs] for ours, theirs in BLOCK.items()})
    position = family.build("position", chosen["position"], shared)
    return block(in_features, position, torch.arange(in_features.shape[-2]))


def run_transformer_lm(
    vocab_size: int,
    context_length: int,
    d_model: int,
    num_layers: int,
    num_heads: int,
    d_ff: int,
    rope_theta: float,
    weights: Weights,
    in_indices: Tensor,
) -> Tensor:
    model = Model(sizes(d_model, num_heads, context_length, num_layers, vocab_size), parts(d_ff, rope_theta))
    blocks = {
        f"blocks.{n}.{ours}": weights[f"layers.{n}.{theirs}"]
        for n in range(num_layers)
        for ours, theirs in BLOCK.items()
    }
    model.load_state_dict({**{ours: weights[theirs] for ours, theirs in MODEL.items()}, **blocks})
    return model.logits(model(in_indices))


# What they give


LEADING = [(), (3,), (2, 3), (2, 1, 3)]
"""Of features with another dimension before the last one: up to five dimensions in all."""


def drawn(*shape: int, seed: int = 0) -> Tensor:
    return torch.from_numpy(np.random.default_rng(seed).standard_normal(shape)).float()


def all_drawn(shapes: dict[str, tuple[int, ...]]) -> Weights:
    """Matrices are about as long as the features that they read; gains are about one."""
    found = {}
    for seed, (name, shape) in enumerate(shapes.items()):
        values = drawn(*shape, seed=seed)
        found[name] = 1 + values / 5 if len(shape) == 1 else values / shape[1] ** 0.5
    return found


def exact(*tensors: Tensor) -> Any:
    arrays = [tensor.double().numpy() if tensor.is_floating_point() else tensor.numpy() for tensor in tensors]
    return arrays[0] if len(arrays) == 1 else arrays


def same(found: Tensor, expected: np.ndarray, tolerance: float = 1e-5) -> None:
    assert found.dtype == torch.float32
    np.testing.assert_allclose(found.detach().numpy(), expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("leading", LEADING, ids=len)
def test_parts_that_see_one_token_apart(leading: tuple[int, ...]):
    x = drawn(*leading, 4, 16)
    w1, w2, w3, gain = drawn(40, 16, seed=1), drawn(16, 40, seed=2), drawn(40, 16, seed=3), drawn(16, seed=4)
    same(run_linear(16, 40, w1, x), exact(x) @ exact(w1).T)
    same(run_swiglu(16, 40, w1, w2, w3, x), truth.swiglu(*exact(w1, w2, w3, x)), 2e-5)
    same(run_rmsnorm(16, 1e-5, gain, x), truth.normalised(exact(gain), 1e-5, exact(x)))
    same(run_rmsnorm(16, 0.5, gain, x / 100), truth.normalised(exact(gain), 0.5, exact(x) / 100))
    same(run_silu(x), truth.silu(exact(x)))
    ids = torch.arange(4 * int(np.prod(leading))).view(*leading, 4) % 40
    assert torch.equal(run_embedding(40, 16, w1, ids)[..., -1, :], w1[ids[..., -1]])


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_softmax_over_any_dimension_and_of_large_numbers(dim: int):
    x = drawn(3, 4, 5)
    same(run_softmax(x, dim), truth.softmax(exact(x), dim))
    same(run_softmax(x + 1000, dim), truth.softmax(exact(x + 1000), dim))


@pytest.mark.parametrize("leading", LEADING, ids=len)
@pytest.mark.parametrize("masked", ["no mask", "a mask for all", "a mask for each"])
def test_attention_of_any_numbers_of_queries_and_keys(leading: tuple[int, ...], masked: str):
    q, k, v = drawn(*leading, 5, 8), drawn(*leading, 7, 8, seed=1), drawn(*leading, 7, 6, seed=2)
    seen = drawn(*(leading if masked == "a mask for each" else ()), 5, 7, seed=3) > 0
    seen[..., 0] = True
    given = None if masked == "no mask" else seen
    expected = truth.attended(exact(q), exact(k), exact(v), None if given is None else exact(given))
    same(run_scaled_dot_product_attention(q, k, v, given), expected)


def test_a_query_that_sees_no_key_finds_zeros():
    q, k, v = drawn(2, 5, 8), drawn(2, 7, 8, seed=1), drawn(2, 7, 8, seed=2)
    seen = torch.ones(5, 7, dtype=torch.bool)
    seen[3] = False
    found = run_scaled_dot_product_attention(q, k, v, seen)
    assert not found[:, 3].any() and found[:, [0, 1, 2, 4]].abs().amin() > 0


def projections(width: int) -> tuple[tuple[Tensor, Tensor, Tensor, Tensor], truth.Weights]:
    """Of queries, keys, values and what is found: for the adapter, and as the formulas have them."""
    names = [f"{name}_proj.weight" for name in ("q", "k", "v", "output")]
    weights = all_drawn(dict.fromkeys(names, (width, width)))
    query, key, value, out = weights.values()
    return (query, key, value, out), {name: exact(each) for name, each in weights.items()}


@pytest.mark.parametrize("leading", LEADING, ids=len)
def test_self_attention(leading: tuple[int, ...]):
    x, (weights, exactly) = drawn(*leading, 9, 24), projections(24)
    expected = truth.self_attention(4, exactly, exact(x))
    same(run_multihead_self_attention(24, 4, *weights, x), expected)


POSITIONS = {
    "not given": None,
    "for all": torch.arange(9) + 3,
    "one row": torch.arange(9)[None],
    "for each": torch.stack([torch.arange(9), torch.arange(9) + 20, torch.arange(0, 18, 2)]),
}


@pytest.mark.parametrize("positions", POSITIONS)
def test_self_attention_with_turned_queries_and_keys(positions: str):
    x, (weights, exactly), places = drawn(3, 9, 24), projections(24), POSITIONS[positions]
    numbers = np.arange(9) if places is None else exact(places)
    found = run_multihead_self_attention_with_rope(24, 4, 32, 10_000.0, *weights, x, places)
    same(found, truth.self_attention(4, exactly, exact(x), 10_000.0, numbers))
    if positions != "for each":  # a shift of all positions would change nothing
        return
    unevenly = truth.self_attention(4, exactly, exact(x), 10_000.0, np.arange(9))
    assert np.abs(exact(found.detach()) - unevenly)[2].max() > 0.1


@pytest.mark.parametrize("leading", LEADING, ids=len)
@pytest.mark.parametrize("each", [False, True])
def test_queries_are_turned(leading: tuple[int, ...], each: bool):
    x = drawn(*leading, 6, 10)
    places = torch.from_numpy(
        np.random.default_rng(1).integers(0, 50, (*leading, 6) if each else (6,), dtype=np.int64)
    )
    same(run_rope(10, 500.0, 50, x, places), truth.turned(500.0, *exact(x, places)))


@pytest.mark.parametrize("leading", LEADING, ids=len)
def test_a_block(leading: tuple[int, ...]):
    x, weights = drawn(*leading, 11, 24), all_drawn(truth.block_shapes(24, 50))
    expected = truth.block(4, 10_000.0, {key: exact(value) for key, value in weights.items()}, exact(x))
    same(run_transformer_block(24, 4, 50, 16, 10_000.0, weights, x), expected)


@pytest.mark.parametrize("length", [1, 6, 12])
def test_a_language_model_and_shorter_texts(length: int):
    weights = all_drawn(truth.model_shapes(40, 24, 3, 50))
    ids = torch.from_numpy(np.random.default_rng(0).integers(0, 40, (4, 12)))[:, :length]
    all_exact = {key: exact(value) for key, value in weights.items()}
    expected = truth.language_model(3, 4, 10_000.0, all_exact, exact(ids))
    assert expected.std() > 0.5
    same(run_transformer_lm(40, 12, 24, 3, 4, 50, 10_000.0, weights, ids), expected, 2e-5)
