"""MPT: attention with linear biases, layer norms without biases, a plain mlp four times as wide."""

from typing import Any

import torch
from torch import Tensor

from onechange.export.architectures import Architecture, Parts
from onechange.export.architectures import _weights as ours
from onechange.model import Model

TAKES = {
    "position": {"alibi": {}},
    "norm": {"layer": {"bias": (False,)}},
    "placement": ours.PRE,
    "mlp": {"gelu": {"hidden": (0,), "approximation": ("none",)}},
    "attention": {"heads": ours.PLAIN_HEADS},
    "embedding": ours.EMBEDDINGS,
}


def _settings(model: Model, parts: Parts) -> dict[str, Any]:
    sizes = model.sizes
    return {
        "max_seq_len": sizes.window,
        "d_model": sizes.width,
        "n_layers": sizes.layers,
        "n_heads": sizes.heads,
        "layer_norm_epsilon": parts["norm"]["epsilon"],
        "use_cache": True,
    }


def _weights(model: Model) -> dict[str, Tensor]:
    found: dict[str, Tensor] = {"transformer.wte.weight": model.embedding}
    for number, block in enumerate(ours.blocks(model)):
        at, attention = f"transformer.blocks.{number}", ours.attention(block)
        before_attention, before_mlp = ours.around(block)
        inward, outward = ours.plain(block)
        together = (attention.query.weight, attention.key.weight, attention.value.weight)
        found |= {
            f"{at}.norm_1.weight": before_attention.gain,
            f"{at}.attn.Wqkv.weight": torch.cat(together),
            f"{at}.attn.out_proj.weight": attention.out.weight,
            f"{at}.norm_2.weight": before_mlp.gain,
            f"{at}.ffn.up_proj.weight": inward,
            f"{at}.ffn.down_proj.weight": outward,
        }
    assert isinstance(model.norm.gain, Tensor)
    return {**found, "transformer.norm_f.weight": model.norm.gain, **ours.scoring(model)}


ARCHITECTURE = Architecture("MptForCausalLM", "MptConfig", TAKES, _settings, _weights, drops=False)
