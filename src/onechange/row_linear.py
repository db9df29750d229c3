"""Linear layers for a few rows at a time, where reading the weights is most of the work.

torch multiplies a single row at a small part of the rate at which memory could hand over the weights. Compiled, a
product and a sum come near that rate, and weights of 16 or 8 bits are read two or four times as fast. Weights of 8 bits
are whole numbers from -127 to 127 times one factor for each output, whose largest weight is 127: absmax quantization by
rows, as in Dettmers et al. 2022, section 2, https://arxiv.org/abs/2208.07339
"""

import copy
from typing import Literal, get_args

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from onechange.model import Model
from onechange.processor import has_fast_bf16

Weights = Literal["float32", "bf16", "int8"]
WEIGHTS: tuple[Weights, ...] = get_args(Weights)
"""How weights are held. With 16 or 8 bits what is multiplied by them is rounded to bf16."""


class RowLinear(nn.Module):
    """x Wᵀ + b for ``x`` in float32, with weights held in fewer bits."""

    weight: Tensor
    bias: Tensor | None
    factors: Tensor | None
    whole: Tensor | None

    def __init__(
        self, weight: Float[Tensor, "outputs inputs"], bias: Tensor | None, kind: Weights, alone: bool
    ) -> None:
        """``alone``: also for a single row of a compiled model."""
        super().__init__()
        weight, factors = weight.detach().float(), None
        if kind == "int8":
            factors = absmax(weight)
            weight = (weight / factors[:, None]).round()  # whole numbers up to 127, which bf16 holds exactly
        self.alone = alone
        self.rounds = kind != "float32"
        held = weight.bfloat16() if self.rounds else weight
        # Where products of bf16 are the slower ones, many rows are multiplied by what bf16 holds, in float32.
        self.register_buffer("weight", held if alone or has_fast_bf16() else held.float())
        self.register_buffer("bias", None if bias is None else bias.detach().float())
        self.register_buffer("factors", factors)
        self.register_buffer("whole", weight.to(torch.int8) if alone and kind == "int8" else None)

    def forward(self, x: Float[Tensor, "*batch inputs"]) -> Float[Tensor, "*batch outputs"]:
        given = x.bfloat16() if self.rounds else x
        if self.alone and x.numel() == x.shape[-1] and torch.compiler.is_compiling():
            # Laid out by its strides, a row is computed before it is read: the compiler would otherwise compute each of
            # its numbers anew for every output.
            row = given.as_strided((x.shape[-1],), (1,)).float()
            made = ((self.weight if self.whole is None else self.whole).float() * row).sum(-1)
            made = made.to(given.dtype).view(*x.shape[:-1], -1)  # rounded as the product of more rows is
        else:
            made = F.linear(given.to(self.weight.dtype), self.weight).to(given.dtype)
        made = made.float()
        made = made if self.factors is None else made * self.factors
        return made if self.bias is None else made + self.bias


def absmax(weight: Float[Tensor, "outputs inputs"]) -> Float[Tensor, " outputs"]:
    """What 1 stands for among the whole numbers of each output's weights."""
    return weight.abs().amax(1).clamp(min=torch.finfo(torch.float32).tiny) / 127


def rounded(model: Model, kind: Weights, alone: bool = False) -> Model:
    """A copy of ``model``, not for training, whose linear layers are `RowLinear`.

    Its embedding and the table of its scores hold what such weights can. ``alone`` as for `RowLinear`.
    """
    made = copy.deepcopy(model).eval().requires_grad_(False)
    for parent in list(made.modules()):
        for name, layer in list(parent.named_children()):
            if type(layer) is nn.Linear:
                setattr(parent, name, RowLinear(layer.weight, layer.bias, kind, alone))
    for table in {made.embedding, made.scoring}:
        table.copy_(as_held(table, kind))
    return made


def as_held(weight: Float[Tensor, "outputs inputs"], kind: Weights) -> Float[Tensor, "outputs inputs"]:
    """``weight`` rounded to what weights of that kind can hold."""
    if kind == "int8":
        factors = absmax(weight)[:, None]
        return (weight / factors).round() * factors
    return weight.bfloat16().float() if kind == "bf16" else weight
