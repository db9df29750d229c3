"""GPT-2: positions in a table that is added to the tokens', layer norms before each part, a plain mlp.

No positions are a table of zeros, sinusoidal ones their table written out.
"""

from typing import Any

import torch
from torch import Tensor

from onechange.export.architectures import Architecture, Parts
from onechange.export.architectures import _weights as ours
from onechange.model import Model
from onechange.position.learned import LearnedPosition
from onechange.position.sinusoidal import SinusoidalPosition

TAKES = {
    "position": {"learned": {}, "none": {}, "sinusoidal": {}},
    "norm": {"layer": {}},
    "placement": ours.PRE,
    "mlp": {"gelu": {}, "relu2": {}},
    "attention": {"heads": ours.PLAIN_HEADS},
    "embedding": ours.EMBEDDINGS,
}


def _settings(model: Model, parts: Parts) -> dict[str, Any]:
    sizes = model.sizes
    return {
        "n_positions": sizes.window,
        "n_embd": sizes.width,
        "n_layer": sizes.layers,
        "n_head": sizes.heads,
        "n_inner": ours.hidden(model),
        "activation_function": ours.activation(parts),
        "layer_norm_epsilon": parts["norm"]["epsilon"],
        "resid_pdrop": sizes.dropout,
        "embd_pdrop": sizes.dropout,
        "attn_pdrop": 0.0,
    }


def _weights(model: Model) -> dict[str, Tensor]:
    found: dict[str, Tensor] = {
        "transformer.wte.weight": model.embedding,
        "transformer.wpe.weight": _positions(model),
    }
    for number, block in enumerate(ours.blocks(model)):
        at, attention = f"transformer.h.{number}", ours.attention(block)
        before_attention, before_mlp = ours.around(block)
        inward, outward = ours.plain(block)
        together = torch.cat((attention.query.weight, attention.key.weight, attention.value.weight))
        # Their matrices are the other way round, and have biases.
        linear = {
            "attn.c_attn": together,
            "attn.c_proj": attention.out.weight,
            "mlp.c_fc": inward,
            "mlp.c_proj": outward,
        }
        for name, weight in linear.items():
            found |= {f"{at}.{name}.weight": weight.t(), f"{at}.{name}.bias": torch.zeros(len(weight))}
        found |= ours.norm(f"{at}.ln_1", before_attention) | ours.norm(f"{at}.ln_2", before_mlp)
    return {**found, **ours.norm("transformer.ln_f", model.norm), **ours.scoring(model)}


def _positions(model: Model) -> Tensor:
    if isinstance(model.position, LearnedPosition):
        return model.position.table
    if isinstance(model.position, SinusoidalPosition):
        return model.position.waves.values[: model.sizes.window]
    return torch.zeros(model.sizes.window, model.sizes.width)


def _remarks(model: Model, parts: Parts) -> list[str]:
    what = {
        "none": "GPT-2 adds a table of positions; this model has none, so the table is zero.",
        "sinusoidal": "GPT-2 adds a table of positions; here it holds the waves, which were not learned.",
    }
    return [what[parts["position"]["name"]]] if parts["position"]["name"] in what else []


ARCHITECTURE = Architecture(
    "GPT2LMHeadModel", "GPT2Config", TAKES, _settings, _weights, drops=True, remarks=_remarks
)
