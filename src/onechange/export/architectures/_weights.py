"""What several architectures read off a model of ours."""

from typing import Any, cast

import torch
from torch import Tensor, nn

from onechange.attention._projected import ProjectedAttention
from onechange.export.architectures import Parts
from onechange.mlp._plain import PlainMlp
from onechange.model import Block, Model
from onechange.placement.pre import PrePlacement
from onechange.position.rope import RotaryPosition

PLAIN_HEADS = {"query_key_norm": ("none",), "sliding": (0,), "gate": ("none",)}
"""Settings of attention that is nothing but heads."""
PRE = {"pre": {}}
EMBEDDINGS = {"tied": {}, "untied": {}}
WHOLE_ROTARY = {"rope": {"share": (1.0,)}}
"""All of a head's features are turned."""


def blocks(model: Model) -> list[Block]:
    """The model's layers."""
    return [cast(Block, block) for block in model.blocks]


def attention(block: Block) -> ProjectedAttention:
    """A block's attention, with its projections."""
    assert isinstance(block.attention, ProjectedAttention)
    return block.attention


def around(block: Block) -> tuple[Any, Any]:
    """The norms before a block's attention and before its mlp."""
    assert isinstance(block.attention_norm, PrePlacement) and isinstance(block.mlp_norm, PrePlacement)
    return block.attention_norm.norm, block.mlp_norm.norm


def norm(name: str, found: nn.Module) -> dict[str, Tensor]:
    """A layer norm's gains and biases; biases that ours does not have are zero."""
    gain, bias = cast(Tensor, found.gain), cast(Tensor | None, found.bias)
    return {f"{name}.weight": gain, f"{name}.bias": torch.zeros_like(gain) if bias is None else bias}


def plain(block: Block) -> tuple[Tensor, Tensor]:
    """The two matrices of a plain mlp, in and out."""
    assert isinstance(block.mlp, PlainMlp)
    return block.mlp.hidden.weight, block.mlp.out.weight


def scoring(model: Model, name: str = "lm_head.weight") -> dict[str, Tensor]:
    """The table that scores, where it is another than the one that reads."""
    return {} if model.scoring is model.embedding else {name: model.scoring}


def is_tied(model: Model) -> bool:
    """Whether one table reads and scores."""
    return model.scoring is model.embedding


def hidden(model: Model) -> int:
    """How wide an mlp is inside."""
    return cast(nn.Linear, blocks(model)[0].mlp.out).in_features


def halves(weight: Tensor, model: Model) -> Tensor:
    """Queries' or keys' rows, or their gains, with the features that are turned together at i and i + d/2.

    Ours may stand side by side, 2i and 2i + 1. A product of a query and a key does not depend on their order.
    """
    position = model.position
    assert isinstance(position, RotaryPosition)
    if position.pairs == "halves":
        return weight
    order = torch.arange(model.sizes.head_width)
    order[: position.turned] = torch.arange(position.turned).view(-1, 2).t().flatten()
    return weight.unflatten(0, (-1, model.sizes.head_width))[:, order].flatten(0, 1)


def rotary(model: Model, parts: Parts) -> dict[str, Any]:
    """How transformers is told of the angles."""
    position = model.position
    assert isinstance(position, RotaryPosition)
    width = model.sizes.head_width
    share = position.turned / width
    assert int(width * share) == position.turned  # which is how it is read
    return {"rope_type": "default", "rope_theta": parts["position"]["theta"], "partial_rotary_factor": share}


def activation(parts: Parts) -> str:
    """What transformers calls the function inside an mlp."""
    mlp = parts["mlp"]
    if mlp["name"] == "gelu" and mlp["approximation"] == "tanh":
        return "gelu_new"
    return {"gelu": "gelu", "geglu": "gelu", "swiglu": "silu", "relu2": "relu2"}[mlp["name"]]


def rotary_remarks(model: Model, parts: Parts) -> list[str]:
    """What becomes of rotary positions."""
    if parts["position"]["pairs"] == "halves":
        return []
    return [
        "The features of queries and keys that are turned together stand half a head apart here and side by side in "
        "the run; the order is another, the products are the same."
    ]
