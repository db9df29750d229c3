"""Mistral: Llama whose tokens see only so many before them."""

from typing import Any

from onechange.export.architectures import Architecture, Parts, llama
from onechange.export.architectures import _llama_like as llama_like
from onechange.export.architectures import _weights as ours
from onechange.model import Model

SLIDING = {"query_key_norm": ("none",), "gate": ("none",)}


def _settings(model: Model, parts: Parts) -> dict[str, Any]:
    # Both count the token itself.
    return {
        **llama_like.rms_settings(model, parts),
        "sliding_window": ours.attention(ours.blocks(model)[0]).reach,
    }


ARCHITECTURE = Architecture(
    "MistralForCausalLM",
    "MistralConfig",
    {**llama.TAKES, "attention": {"heads": SLIDING, "grouped": SLIDING}},
    _settings,
    llama_like.weights,
    drops=False,
    older=llama_like.older,
    remarks=ours.rotary_remarks,
)
