"""Which weight of a model of transformers is which of ours.

A table has a row for each of our weights: its name, theirs, and how theirs is read where it is not the same matrix.
N stands for the number of a layer.
"""

from collections.abc import Callable

from torch import Tensor

from onechange.sizes import Sizes

Reading = Callable[[Tensor, Sizes], Tensor]
Table = dict[str, str | tuple[str, Reading]]


def weights(table: Table, theirs: dict[str, Tensor], sizes: Sizes) -> dict[str, Tensor]:
    """Our weights, read from ``theirs``."""
    found = {}
    for ours, row in table.items():
        name, read = (row, _same) if isinstance(row, str) else row
        for layer in range(sizes.layers if "N" in ours else 1):
            value = read(theirs[name.replace("N", str(layer))], sizes)
            found[ours.replace("N", str(layer))] = value
    return found


def names(table: Table, sizes: Sizes) -> set[str]:
    """Of their weights that ``table`` reads."""
    rows = [row if isinstance(row, str) else row[0] for row in table.values()]
    return {row.replace("N", str(layer)) for row in rows for layer in range(sizes.layers)}


def _same(weight: Tensor, sizes: Sizes) -> Tensor:
    return weight


def _turned(weight: Tensor, sizes: Sizes) -> Tensor:
    """What reads stands in rows, what is written in columns."""
    return weight.t()


def _third(number: int) -> Reading:
    """Queries, keys and values one below the other."""
    return lambda weight, sizes: weight.chunk(3)[number]


def _turned_third(number: int) -> Reading:
    """Queries, keys and values side by side."""
    return lambda weight, sizes: weight.t().chunk(3)[number]


def _third_of_heads(number: int) -> Reading:
    """Queries, keys and values of the first head, then those of the second, …"""
    return lambda weight, sizes: weight.unflatten(0, (sizes.heads, 3, -1))[:, number].flatten(0, 1)


def _one_more(weight: Tensor, sizes: Sizes) -> Tensor:
    """A gain is kept as what it is above one."""
    return weight + 1


def _unscaled(weight: Tensor, sizes: Sizes) -> Tensor:
    """Scores are not divided by the root of the head's width."""
    return weight * sizes.head_width**0.5


GPT2: Table = {
    "embedding": "transformer.wte.weight",
    "position.table": "transformer.wpe.weight",
    "blocks.N.attention_norm.norm.gain": "transformer.h.N.ln_1.weight",
    "blocks.N.attention_norm.norm.bias": "transformer.h.N.ln_1.bias",
    "blocks.N.attention.query.weight": ("transformer.h.N.attn.c_attn.weight", _turned_third(0)),
    "blocks.N.attention.key.weight": ("transformer.h.N.attn.c_attn.weight", _turned_third(1)),
    "blocks.N.attention.value.weight": ("transformer.h.N.attn.c_attn.weight", _turned_third(2)),
    "blocks.N.attention.out.weight": ("transformer.h.N.attn.c_proj.weight", _turned),
    "blocks.N.mlp_norm.norm.gain": "transformer.h.N.ln_2.weight",
    "blocks.N.mlp_norm.norm.bias": "transformer.h.N.ln_2.bias",
    "blocks.N.mlp.hidden.weight": ("transformer.h.N.mlp.c_fc.weight", _turned),
    "blocks.N.mlp.out.weight": ("transformer.h.N.mlp.c_proj.weight", _turned),
    "norm.gain": "transformer.ln_f.weight",
    "norm.bias": "transformer.ln_f.bias",
}
GPT1: Table = {
    **{ours: row for ours, row in GPT2.items() if not ours.startswith("norm.")},
    "embedding": "transformer.tokens_embed.weight",
    "position.table": "transformer.positions_embed.weight",
}
NEOX_FUSED = "gpt_neox.layers.N.attention.query_key_value.weight"
NEOX: Table = {
    "embedding": "gpt_neox.embed_in.weight",
    "blocks.N.attention_norm.norm.gain": "gpt_neox.layers.N.input_layernorm.weight",
    "blocks.N.attention_norm.norm.bias": "gpt_neox.layers.N.input_layernorm.bias",
    "blocks.N.attention.query.weight": (NEOX_FUSED, _third_of_heads(0)),
    "blocks.N.attention.key.weight": (NEOX_FUSED, _third_of_heads(1)),
    "blocks.N.attention.value.weight": (NEOX_FUSED, _third_of_heads(2)),
    "blocks.N.attention.out.weight": "gpt_neox.layers.N.attention.dense.weight",
    "blocks.N.mlp_norm.norm.gain": "gpt_neox.layers.N.post_attention_layernorm.weight",
    "blocks.N.mlp_norm.norm.bias": "gpt_neox.layers.N.post_attention_layernorm.bias",
    "blocks.N.mlp.hidden.weight": "gpt_neox.layers.N.mlp.dense_h_to_4h.weight",
    "blocks.N.mlp.out.weight": "gpt_neox.layers.N.mlp.dense_4h_to_h.weight",
    "norm.gain": "gpt_neox.final_layer_norm.weight",
    "norm.bias": "gpt_neox.final_layer_norm.bias",
    "unembedding.weight": "lm_head.weight",
}
LLAMA: Table = {
    "embedding": "model.embed_tokens.weight",
    "blocks.N.attention_norm.norm.gain": "model.layers.N.input_layernorm.weight",
    "blocks.N.attention.query.weight": "model.layers.N.self_attn.q_proj.weight",
    "blocks.N.attention.key.weight": "model.layers.N.self_attn.k_proj.weight",
    "blocks.N.attention.value.weight": "model.layers.N.self_attn.v_proj.weight",
    "blocks.N.attention.out.weight": "model.layers.N.self_attn.o_proj.weight",
    "blocks.N.mlp_norm.norm.gain": "model.layers.N.post_attention_layernorm.weight",
    "blocks.N.mlp.gate.weight": "model.layers.N.mlp.gate_proj.weight",
    "blocks.N.mlp.hidden.weight": "model.layers.N.mlp.up_proj.weight",
    "blocks.N.mlp.out.weight": "model.layers.N.mlp.down_proj.weight",
    "norm.gain": "model.norm.weight",
}
UNTIED: Table = {"unembedding.weight": "lm_head.weight"}
QWEN3: Table = {
    **LLAMA,
    "blocks.N.attention.query_gain": "model.layers.N.self_attn.q_norm.weight",
    "blocks.N.attention.key_gain": "model.layers.N.self_attn.k_norm.weight",
}
NEMOTRON: Table = {
    **{ours: row for ours, row in LLAMA.items() if "gate" not in ours},
    "blocks.N.attention_norm.norm.gain": ("model.layers.N.input_layernorm.weight", _one_more),
    "blocks.N.attention_norm.norm.bias": "model.layers.N.input_layernorm.bias",
    "blocks.N.mlp_norm.norm.gain": ("model.layers.N.post_attention_layernorm.weight", _one_more),
    "blocks.N.mlp_norm.norm.bias": "model.layers.N.post_attention_layernorm.bias",
    "norm.gain": ("model.norm.weight", _one_more),
    "norm.bias": "model.norm.bias",
}
MPT: Table = {
    "embedding": "transformer.wte.weight",
    "blocks.N.attention_norm.norm.gain": "transformer.blocks.N.norm_1.weight",
    "blocks.N.attention.query.weight": ("transformer.blocks.N.attn.Wqkv.weight", _third(0)),
    "blocks.N.attention.key.weight": ("transformer.blocks.N.attn.Wqkv.weight", _third(1)),
    "blocks.N.attention.value.weight": ("transformer.blocks.N.attn.Wqkv.weight", _third(2)),
    "blocks.N.attention.out.weight": "transformer.blocks.N.attn.out_proj.weight",
    "blocks.N.mlp_norm.norm.gain": "transformer.blocks.N.norm_2.weight",
    "blocks.N.mlp.hidden.weight": "transformer.blocks.N.ffn.up_proj.weight",
    "blocks.N.mlp.out.weight": "transformer.blocks.N.ffn.down_proj.weight",
    "norm.gain": "transformer.norm_f.weight",
}
T5: Table = {
    "embedding": "stack.embed_tokens.weight",
    "position.table": "stack.block.0.layer.0.SelfAttention.relative_attention_bias.weight",
    "blocks.N.attention_norm.norm.gain": "stack.block.N.layer.0.layer_norm.weight",
    "blocks.N.attention.query.weight": ("stack.block.N.layer.0.SelfAttention.q.weight", _unscaled),
    "blocks.N.attention.key.weight": "stack.block.N.layer.0.SelfAttention.k.weight",
    "blocks.N.attention.value.weight": "stack.block.N.layer.0.SelfAttention.v.weight",
    "blocks.N.attention.out.weight": "stack.block.N.layer.0.SelfAttention.o.weight",
    "blocks.N.mlp_norm.norm.gain": "stack.block.N.layer.2.layer_norm.weight",
    "blocks.N.mlp.gate.weight": "stack.block.N.layer.2.DenseReluDense.wi_0.weight",
    "blocks.N.mlp.hidden.weight": "stack.block.N.layer.2.DenseReluDense.wi_1.weight",
    "blocks.N.mlp.out.weight": "stack.block.N.layer.2.DenseReluDense.wo.weight",
    "norm.gain": "stack.final_layer_norm.weight",
}
