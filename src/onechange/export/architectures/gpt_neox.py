"""GPT-NeoX: rotary positions, layer norms before each part, a plain mlp; attention first and then the mlp."""

from typing import Any

import torch
from torch import Tensor

from onechange.export.architectures import Architecture, Parts
from onechange.export.architectures import _weights as ours
from onechange.model import Model

TAKES = {
    "position": {"rope": {}},
    "norm": {"layer": {}},
    "placement": ours.PRE,
    "mlp": {"gelu": {}, "relu2": {}},
    "attention": {"heads": ours.PLAIN_HEADS},
    "embedding": ours.EMBEDDINGS,
}


def _settings(model: Model, parts: Parts) -> dict[str, Any]:
    sizes = model.sizes
    return {
        "max_position_embeddings": sizes.window,
        "hidden_size": sizes.width,
        "num_hidden_layers": sizes.layers,
        "num_attention_heads": sizes.heads,
        "intermediate_size": ours.hidden(model),
        "hidden_act": ours.activation(parts),
        "layer_norm_eps": parts["norm"]["epsilon"],
        "rope_parameters": ours.rotary(model, parts),
        "use_parallel_residual": False,
        "attention_bias": False,
        "hidden_dropout": sizes.dropout,
        "attention_dropout": 0.0,
    }


def _weights(model: Model) -> dict[str, Tensor]:
    head = model.sizes.head_width
    found: dict[str, Tensor] = {"gpt_neox.embed_in.weight": model.embedding}
    for number, block in enumerate(ours.blocks(model)):
        at, attention = f"gpt_neox.layers.{number}", ours.attention(block)
        before_attention, before_mlp = ours.around(block)
        query, key = (ours.halves(part.weight, model) for part in (attention.query, attention.key))
        # One head's queries, keys and values, then those of the next.
        of_heads = [part.unflatten(0, (-1, head)) for part in (query, key, attention.value.weight)]
        found[f"{at}.attention.query_key_value.weight"] = torch.stack(of_heads, 1).flatten(0, 2)
        found[f"{at}.attention.dense.weight"] = attention.out.weight
        for name, weight in zip(("dense_h_to_4h", "dense_4h_to_h"), ours.plain(block), strict=True):
            found |= {f"{at}.mlp.{name}.weight": weight, f"{at}.mlp.{name}.bias": torch.zeros(len(weight))}
        found |= ours.norm(f"{at}.input_layernorm", before_attention)
        found |= ours.norm(f"{at}.post_attention_layernorm", before_mlp)
    return {**found, **ours.norm("gpt_neox.final_layer_norm", model.norm), **ours.scoring(model)}


ARCHITECTURE = Architecture(
    "GPTNeoXForCausalLM",
    "GPTNeoXConfig",
    TAKES,
    _settings,
    _weights,
    drops=True,
    older=lambda settings: {
        "rotary_emb_base": settings["rope_parameters"]["rope_theta"],
        "rotary_pct": settings["rope_parameters"]["partial_rotary_factor"],
    },
    remarks=ours.rotary_remarks,
)
