"""Starcoder2: rotary positions, layer norms, a plain mlp; heads may share keys and values, tokens see only so far."""

from typing import Any

from torch import Tensor

from onechange.export.architectures import Architecture, Parts, mistral
from onechange.export.architectures import _llama_like as llama_like
from onechange.export.architectures import _weights as ours
from onechange.model import Model

TAKES = {
    "position": ours.WHOLE_ROTARY,
    "norm": {"layer": {}},
    "placement": ours.PRE,
    "mlp": {"gelu": {}, "relu2": {}},
    "attention": {"heads": mistral.SLIDING, "grouped": mistral.SLIDING},
    "embedding": ours.EMBEDDINGS,
}


def _settings(model: Model, parts: Parts) -> dict[str, Any]:
    return {
        **llama_like.settings(model, parts),
        "norm_epsilon": parts["norm"]["epsilon"],
        "sliding_window": ours.attention(ours.blocks(model)[0]).reach,
        "use_bias": False,
        "residual_dropout": model.sizes.dropout,
        "embedding_dropout": model.sizes.dropout,
    }


def _weights(model: Model) -> dict[str, Tensor]:
    named = {"up_proj": "c_fc", "down_proj": "c_proj"}
    found = {}
    for name, weight in llama_like.weights(model).items():
        for theirs, here in named.items():
            name = name.replace(f"mlp.{theirs}", f"mlp.{here}")
        found[name] = weight
    for number, block in enumerate(ours.blocks(model)):
        before_attention, before_mlp = ours.around(block)
        found |= ours.norm(f"model.layers.{number}.input_layernorm", before_attention)
        found |= ours.norm(f"model.layers.{number}.post_attention_layernorm", before_mlp)
    return {**found, **ours.norm("model.norm", model.norm)}


ARCHITECTURE = Architecture(
    "Starcoder2ForCausalLM",
    "Starcoder2Config",
    TAKES,
    _settings,
    _weights,
    drops=True,
    older=llama_like.older,
    remarks=ours.rotary_remarks,
)
