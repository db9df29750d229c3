"""Qwen3: Llama whose queries and keys are normalised before they are turned."""

from typing import Any

from torch import Tensor

from onechange.export.architectures import Architecture, Parts, llama
from onechange.export.architectures import _llama_like as llama_like
from onechange.export.architectures import _weights as ours
from onechange.model import Model

NORMED = {"query_key_norm": ("rms",), "gate": ("none",)}


def _settings(model: Model, parts: Parts) -> dict[str, Any]:
    reach = ours.attention(ours.blocks(model)[0]).reach
    sliding = {"use_sliding_window": True, "sliding_window": reach, "max_window_layers": 0} if reach else {}
    return {**llama_like.rms_settings(model, parts), "attention_bias": False, **sliding}


def _weights(model: Model) -> dict[str, Tensor]:
    found = llama_like.weights(model)
    for number, block in enumerate(ours.blocks(model)):
        attention = ours.attention(block)
        for name, gain in (("q_norm", attention.query_gain), ("k_norm", attention.key_gain)):
            assert gain is not None
            found[f"model.layers.{number}.self_attn.{name}.weight"] = ours.halves(gain, model)
    return found


ARCHITECTURE = Architecture(
    "Qwen3ForCausalLM",
    "Qwen3Config",
    {
        **llama.TAKES,
        "norm": {"rms": {"epsilon": (1e-6,)}},  # that of queries and keys, which has no setting of its own
        "attention": {"heads": NORMED, "grouped": NORMED},
    },
    _settings,
    _weights,
    drops=False,
    older=llama_like.older,
    remarks=ours.rotary_remarks,
)
