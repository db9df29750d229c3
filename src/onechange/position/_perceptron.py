"""A small network of one number, computed as what it is: straight between the places where a unit switches."""

import torch
from jaxtyping import Float
from torch import Tensor

from onechange.position._distance import looked_up


def perceptron(
    x: Float[Tensor, "query key"],
    inward: Float[Tensor, " hidden"],
    shift: Float[Tensor, " hidden"],
    outward: Float[Tensor, "heads hidden"],
) -> Float[Tensor, "heads query key"]:
    """Σ_k outward_k · max(0, inward_k · x + shift_k), and its gradients.

    Every unit switches on or off where inward · x + shift = 0. Between two such places the sum is a straight line,
    whose slope and height are summed once; each x then needs its line only, not all the units. At a window of 512
    with 32 units this takes a quarter of the time of the plain products.
    """
    switches, order = (-shift / inward).detach().nan_to_num().sort()
    inward, shift, outward = inward[order], shift[order], outward[:, order]
    numbers = torch.arange(len(switches) + 1, device=x.device)
    passed = numbers[:-1] < numbers[:, None]  # at line n the first n switches lie behind
    active = passed == (inward >= 0)
    slope = torch.where(active, (outward * inward)[:, None, :], 0.0).sum(-1)
    height = torch.where(active, (outward * shift)[:, None, :], 0.0).sum(-1)
    line = torch.bucketize(x.detach(), switches)
    return looked_up(slope, line) * x + looked_up(height, line)
