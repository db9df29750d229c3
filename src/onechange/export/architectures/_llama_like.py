"""What Llama and those after it share: the names of weights and the keys of the configuration."""

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from onechange.export.architectures import Parts
from onechange.export.architectures import _weights as ours
from onechange.model import Model


def settings(model: Model, parts: Parts) -> dict[str, Any]:
    """The keys that all of them have."""
    sizes = model.sizes
    return {
        "max_position_embeddings": sizes.window,
        "hidden_size": sizes.width,
        "num_hidden_layers": sizes.layers,
        "num_attention_heads": sizes.heads,
        "num_key_value_heads": key_value_heads(model),
        "intermediate_size": ours.hidden(model),
        "hidden_act": ours.activation(parts),
        "rope_parameters": ours.rotary(model, parts),
        "attention_dropout": 0.0,
    }


def rms_settings(model: Model, parts: Parts) -> dict[str, Any]:
    """The same of those that have RMSNorm."""
    return {
        **settings(model, parts),
        "rms_norm_eps": parts["norm"]["epsilon"],
        "head_dim": model.sizes.head_width,
    }


def older(settings: Mapping[str, Any]) -> dict[str, Any]:
    """What versions before 5 read of the angles."""
    return {"rope_theta": settings["rope_parameters"]["rope_theta"]}


def key_value_heads(model: Model) -> int:
    """Heads of keys and values, each shared by one or more heads of queries."""
    return model.sizes.heads // ours.attention(ours.blocks(model)[0]).shared


def weights(model: Model) -> dict[str, Tensor]:
    """Everything but the norms' and mlps' biases, which most of them do not have."""
    found = {"model.embed_tokens.weight": model.embedding}
    for number, block in enumerate(ours.blocks(model)):
        at, attention = f"model.layers.{number}", ours.attention(block)
        before_attention, before_mlp = ours.around(block)
        found |= {
            f"{at}.input_layernorm.weight": before_attention.gain,
            f"{at}.self_attn.q_proj.weight": ours.halves(attention.query.weight, model),
            f"{at}.self_attn.k_proj.weight": ours.halves(attention.key.weight, model),
            f"{at}.self_attn.v_proj.weight": attention.value.weight,
            f"{at}.self_attn.o_proj.weight": attention.out.weight,
            f"{at}.post_attention_layernorm.weight": before_mlp.gain,
        }
        names = {"gate": "gate_proj", "hidden": "up_proj", "out": "down_proj"}
        for name, weight in block.mlp.named_parameters():
            found[f"{at}.mlp.{names[name.removesuffix('.weight')]}.weight"] = weight
    assert isinstance(model.norm.gain, Tensor)
    return {**found, "model.norm.weight": model.norm.gain, **ours.scoring(model)}
