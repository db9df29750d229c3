"""First weights: every named parameter is drawn from a stream of its own.

Parts of the same name and shape therefore start bit for bit equal in all arms, whatever was swapped beside them, and
two tables of the same name and width agree in the rows that they share (a longer draw begins with the shorter one).
"""

import torch
from torch import nn

from onechange.seed import stream

STANDARD_DEVIATION = 0.02


@torch.no_grad()
def fill(model: nn.Module, seed: int, layers: int) -> None:
    """GPT-2's first weights: matrices normal with deviation 0.02, those that write into the residual stream divided by
    sqrt(2 · layers); vectors and scalars keep what their member set. (Radford et al. 2019, section 2.3.)"""
    for name, parameter in model.named_parameters():
        if parameter.ndim < 2:
            continue
        deviation = STANDARD_DEVIATION
        if name.endswith(".out.weight"):
            deviation /= (2 * layers) ** 0.5
        values = stream(seed, "weights", name).standard_normal(tuple(parameter.shape))
        parameter.copy_(torch.from_numpy(values * deviation))
