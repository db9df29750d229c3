"""First weights: every named parameter is drawn from a stream of its own.

Parts of the same name and shape therefore start bit for bit equal in all arms, whatever was swapped beside them, and
two tables of the same name and width agree in the rows that they share (a longer draw begins with the shorter one).
"""

import torch
from torch import nn

from onechange.initialization import Initialization
from onechange.seed import stream


@torch.no_grad()
def fill(model: nn.Module, seed: int, layers: int, initialization: Initialization) -> None:
    """Draw all matrices and tables; vectors and scalars keep what their member set."""
    for name, parameter in model.named_parameters():
        if parameter.ndim < 2:
            continue
        values = initialization.draw(name, tuple(parameter.shape), layers, stream(seed, "weights", name))
        parameter.copy_(torch.from_numpy(values))
