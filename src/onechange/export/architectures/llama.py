"""Llama: rotary positions, RMSNorm before each part, a gated mlp; several heads may share keys and values."""

from onechange.export.architectures import Architecture
from onechange.export.architectures import _llama_like as llama_like
from onechange.export.architectures import _weights as ours

TAKES = {
    "position": ours.WHOLE_ROTARY,
    "norm": {"rms": {}},
    "placement": ours.PRE,
    "mlp": {"swiglu": {}, "geglu": {}},
    "attention": {"heads": ours.PLAIN_HEADS, "grouped": ours.PLAIN_HEADS},
    "embedding": ours.EMBEDDINGS,
}

ARCHITECTURE = Architecture(
    "LlamaForCausalLM",
    "LlamaConfig",
    TAKES,
    llama_like.rms_settings,
    llama_like.weights,
    drops=False,
    older=llama_like.older,
    remarks=ours.rotary_remarks,
)
