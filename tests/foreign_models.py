"""Small models of transformers beside the same ones of ours, with the same random weights."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import foreign_weights
from foreign_weights import GPT1, GPT2, LLAMA, MPT, NEMOTRON, NEOX, QWEN3, T5, UNTIED, Table
from onechange.model import Model
from onechange.sizes import Sizes
from small_models import usual_parts

SIZES = Sizes(layers=2, heads=4, width=32, window=24, vocabulary=37)
LAYER = {"name": "layer", "bias": True}
ROPE = {"name": "rope", "pairs": "halves"}


@dataclass(frozen=True)
class Pair:
    """A model by two names. ``wrong``: one change of our parts by which it would be another model."""

    kind: str
    config: dict[str, Any]
    parts: dict[str, Any]
    table: Table
    wrong: dict[str, Any]
    sizes: Sizes = field(default=SIZES)

    def theirs(self) -> nn.Module:
        """Gains are about one, all other numbers large; biases that we do not have are zero."""
        model, random = made(self.kind, self.config), np.random.default_rng(0)
        used = foreign_weights.names(self.table, self.sizes)
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                gain = parameter.ndim == 1 and name.endswith("weight") and self.kind != "Nemotron"
                drawn = random.normal(float(gain), 0.3, parameter.shape)
                parameter.copy_(torch.from_numpy(drawn if name in used else np.zeros(parameter.shape)))
        return model.eval()

    def ours(self, **other: Any) -> Model:
        """Uninitialised, with the ``other`` parts in place of the right ones."""
        return Model(self.sizes, usual_parts(**{**self.parts, **other}))


class T5Decoder(nn.Module):
    """T5's decoder as a model by itself: nothing is attended to but its own text."""

    def __init__(self, config: Any) -> None:
        from transformers.models.t5.modeling_t5 import T5Stack

        super().__init__()
        self.stack = T5Stack(config)

    def forward(self, tokens: Tensor) -> Any:
        """``logits`` with the table that reads tokens."""
        from transformers.modeling_outputs import CausalLMOutput

        features = self.stack(tokens).last_hidden_state
        return CausalLMOutput(logits=F.linear(features, self.stack.embed_tokens.weight))


def made(kind: str, config: dict[str, Any]) -> nn.Module:
    """A model of transformers, whose attention is done in plain products."""
    import transformers

    found = getattr(transformers, f"{kind}Config")(**config, attn_implementation="eager", use_cache=False)
    if kind == "T5":
        return T5Decoder(found)
    head = {"GPT2": "LMHeadModel", "OpenAIGPT": "LMHeadModel"}.get(kind, "ForCausalLM")
    return getattr(transformers, kind + head)(found)


def rotary(theta: float = 10_000.0, share: float = 1.0) -> dict[str, Any]:
    """How transformers says it."""
    return {"rope_type": "default", "rope_theta": theta, "partial_rotary_factor": share}


OLD: dict[str, Any] = {
    "vocab_size": 37,
    "n_embd": 32,
    "n_layer": 2,
    "n_head": 4,
    "n_positions": 24,
    "bos_token_id": None,
    "eos_token_id": None,
}
NEW: dict[str, Any] = {
    "vocab_size": 37,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 88,
    "pad_token_id": None,
}
GROUPS: dict[str, Any] = {"num_key_value_heads": 2, "head_dim": 8}
RMS, SWIGLU, GROUPED = {"name": "rms"}, {"name": "swiglu", "hidden": 88}, {"name": "grouped", "groups": 2}
LLAMA_PARTS: dict[str, Any] = {"position": ROPE, "norm": RMS, "mlp": SWIGLU, "embedding": "untied"}

PAIRS = {
    "gpt2": Pair(
        "GPT2",
        OLD,
        {"norm": LAYER, "mlp": {"name": "gelu", "approximation": "tanh"}},
        GPT2,
        {"mlp": {"name": "gelu", "approximation": "none"}},
    ),
    "gpt2-exact-gelu": Pair(
        "GPT2",
        {**OLD, "activation_function": "gelu", "n_inner": 50, "layer_norm_epsilon": 1e-2},
        {"norm": {**LAYER, "epsilon": 1e-2}, "mlp": {"name": "gelu", "hidden": 50}},
        GPT2,
        {"norm": LAYER},
    ),
    "gpt1": Pair(
        "OpenAIGPT",
        OLD,
        {"norm": LAYER, "mlp": {"name": "gelu", "approximation": "tanh"}, "placement": "post"},
        GPT1,
        {"mlp": {"name": "gelu", "approximation": "none"}},
    ),
    "neox": Pair(
        "GPTNeoX",
        {**NEW, "use_parallel_residual": False, "rope_parameters": rotary()},
        {"position": ROPE, "norm": LAYER, "mlp": {"name": "gelu", "hidden": 88}, "embedding": "untied"},
        NEOX,
        {"position": "rope"},
    ),
    "neox-quarter": Pair(
        "GPTNeoX",
        {**NEW, "use_parallel_residual": False, "rope_parameters": rotary(share=0.25)},
        {
            "position": {**ROPE, "share": 0.25},
            "norm": LAYER,
            "mlp": {"name": "gelu", "hidden": 88},
            "embedding": "untied",
        },
        NEOX,
        {"position": {**ROPE, "share": 0.5}},
    ),
    "llama": Pair(
        "Llama",
        {**NEW, "rope_parameters": rotary()},
        LLAMA_PARTS,
        LLAMA | UNTIED,
        {"mlp": {"name": "geglu", "hidden": 88}},
    ),
    "llama-grouped": Pair(
        "Llama",
        {**NEW, **GROUPS, "rms_norm_eps": 1e-2, "rope_parameters": rotary(theta=500_000.0)},
        {
            **LLAMA_PARTS,
            "position": {**ROPE, "theta": 500_000.0},
            "norm": {"name": "rms", "epsilon": 1e-2},
            "attention": GROUPED,
        },
        LLAMA | UNTIED,
        {"position": ROPE},
    ),
    "llama-tied": Pair(
        "Llama",
        {**NEW, **GROUPS, "num_key_value_heads": 1, "tie_word_embeddings": True, "rope_parameters": rotary()},
        {**LLAMA_PARTS, "attention": {"name": "grouped"}, "embedding": "tied"},
        LLAMA,
        {"norm": {"name": "rms", "epsilon": 1e-2}},
    ),
    "mistral": Pair(
        "Mistral",
        {**NEW, **GROUPS, "sliding_window": 5, "rope_parameters": rotary()},
        {**LLAMA_PARTS, "attention": {**GROUPED, "sliding": 5}},
        LLAMA | UNTIED,
        {"attention": {**GROUPED, "sliding": 6}},
    ),
    "qwen3": Pair(
        "Qwen3",
        {**NEW, **GROUPS, "rope_parameters": rotary()},
        {**LLAMA_PARTS, "attention": {**GROUPED, "query_key_norm": "rms"}},
        QWEN3 | UNTIED,
        {"position": {**ROPE, "theta": 9_000.0}},
    ),
    "nemotron": Pair(
        "Nemotron",
        {**NEW, **GROUPS, "rope_parameters": rotary(share=0.5)},
        {
            "position": {**ROPE, "share": 0.5},
            "norm": LAYER,
            "mlp": {"name": "relu2", "hidden": 88},
            "attention": GROUPED,
            "embedding": "untied",
        },
        NEMOTRON | UNTIED,
        {"mlp": {"name": "gelu", "hidden": 88}},
    ),
    "mpt": Pair(
        "Mpt",
        {"vocab_size": 37, "d_model": 32, "n_layers": 2, "n_heads": 4, "max_seq_len": 24},
        {"position": "alibi"},
        MPT,
        {"position": "none"},
    ),
    "mpt-six-heads": Pair(
        "Mpt",
        {"vocab_size": 37, "d_model": 36, "n_layers": 2, "n_heads": 6, "max_seq_len": 24},
        {"position": "alibi"},
        MPT,
        {"position": "none"},
        Sizes(layers=2, heads=6, width=36, window=24, vocabulary=37),
    ),
    "t5": Pair(
        "T5",
        {
            "vocab_size": 37,
            "d_model": 32,
            "d_kv": 8,
            "d_ff": 88,
            "num_layers": 2,
            "num_heads": 4,
            "feed_forward_proj": "gated-silu",
            "is_decoder": True,
            "is_encoder_decoder": False,
            "relative_attention_num_buckets": 8,
            "relative_attention_max_distance": 12,
        },
        {"position": {"name": "t5", "buckets": 8, "farthest": 12}, "norm": RMS, "mlp": SWIGLU},
        T5,
        {"position": {"name": "t5", "buckets": 8, "farthest": 20}},
    ),
}
