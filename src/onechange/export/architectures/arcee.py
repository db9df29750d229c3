"""Arcee: Llama with a plain mlp in place of the gated one."""

from onechange.export.architectures import Architecture, llama
from onechange.export.architectures import _llama_like as llama_like
from onechange.export.architectures import _weights as ours

ARCHITECTURE = Architecture(
    "ArceeForCausalLM",
    "ArceeConfig",
    {**llama.TAKES, "mlp": {"gelu": {}, "relu2": {}}},
    llama_like.rms_settings,
    llama_like.weights,
    drops=False,
    older=llama_like.older,
    remarks=ours.rotary_remarks,
)
