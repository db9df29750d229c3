"""The parts of a course's language model (Stanford CS336, assignment 1) by their formulas, in float64.

Nothing of torch and nothing of ours. Weights have one row per feature that comes out.
"""

import numpy as np
from numpy import ndarray as Array

Weights = dict[str, Array]


def softmax(x: Array, axis: int = -1) -> Array:
    above = np.exp(x - x.max(axis, keepdims=True))
    return above / above.sum(axis, keepdims=True)


def silu(x: Array) -> Array:
    return x / (1 + np.exp(-x))


def swiglu(w1: Array, w2: Array, w3: Array, x: Array) -> Array:
    return (silu(x @ w1.T) * (x @ w3.T)) @ w2.T


def normalised(gain: Array, epsilon: float, x: Array) -> Array:
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + epsilon) * gain


def turned(theta: float, x: Array, positions: Array) -> Array:
    """Neighbouring features are the two parts of a complex number."""
    pairs = x[..., 0::2] + 1j * x[..., 1::2]
    frequencies = theta ** (-2.0 * np.arange(pairs.shape[-1]) / x.shape[-1])
    pairs = pairs * np.exp(1j * positions[..., None] * frequencies)
    return np.stack([pairs.real, pairs.imag], -1).reshape(x.shape)


def attended(q: Array, k: Array, v: Array, seen: Array | None = None) -> Array:
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    return softmax(scores if seen is None else np.where(seen, scores, -np.inf)) @ v


def self_attention(
    heads: int, weights: Weights, x: Array, theta: float | None = None, positions: Array | None = None
) -> Array:
    """Head by head; ``weights`` has q_proj, k_proj, v_proj and output_proj."""
    width = x.shape[-1] // heads
    found = []
    for head in range(heads):
        mine = slice(head * width, (head + 1) * width)
        q, k, v = (x @ weights[f"{name}_proj.weight"][mine].T for name in "qkv")
        if theta is not None and positions is not None:
            q, k = turned(theta, q, positions), turned(theta, k, positions)
        found.append(attended(q, k, v, np.tri(x.shape[-2], dtype=bool)))
    return np.concatenate(found, -1) @ weights["output_proj.weight"].T


def block(heads: int, theta: float, weights: Weights, x: Array) -> Array:
    attention = {
        name.removeprefix("attn."): value for name, value in weights.items() if name.startswith("attn.")
    }
    positions = np.arange(x.shape[-2])
    x = x + self_attention(heads, attention, normalised(weights["ln1.weight"], 1e-5, x), theta, positions)
    w1, w2, w3 = (weights[f"ffn.w{number}.weight"] for number in (1, 2, 3))
    return x + swiglu(w1, w2, w3, normalised(weights["ln2.weight"], 1e-5, x))


def language_model(layers: int, heads: int, theta: float, weights: Weights, tokens: Array) -> Array:
    x = weights["token_embeddings.weight"][tokens]
    for layer in range(layers):
        start = f"layers.{layer}."
        mine = {name.removeprefix(start): value for name, value in weights.items() if name.startswith(start)}
        x = block(heads, theta, mine, x)
    return normalised(weights["ln_final.weight"], 1e-5, x) @ weights["lm_head.weight"].T


def block_shapes(width: int, hidden: int) -> dict[str, tuple[int, ...]]:
    """The course's names of a block's weights."""
    square = {f"attn.{name}_proj.weight": (width, width) for name in ("q", "k", "v", "output")}
    outward = {f"ffn.w{number}.weight": (hidden, width) for number in (1, 3)}
    return {
        **square,
        "ln1.weight": (width,),
        "ln2.weight": (width,),
        **outward,
        "ffn.w2.weight": (width, hidden),
    }


def model_shapes(vocabulary: int, width: int, layers: int, hidden: int) -> dict[str, tuple[int, ...]]:
    """Those of the whole model."""
    blocks = {
        f"layers.{layer}.{name}": shape
        for layer in range(layers)
        for name, shape in block_shapes(width, hidden).items()
    }
    tables = dict.fromkeys(("token_embeddings.weight", "lm_head.weight"), (vocabulary, width))
    return {**tables, **blocks, "ln_final.weight": (width,)}
