"""Functional interpolation: a small network makes the bias of the distance, measured against the query's own position.

bias = f(ψ(i − j) / ψ(max(L, i))), ψ(x) = log(c · x + 1), for a query at i and a key at j; f has one hidden layer of
rectified units and one output per head. Distances are a share of what lies before the query, so a longer text asks f
for nothing new. Li et al. 2023, https://arxiv.org/abs/2310.04418
"""

from typing import final

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from onechange.position import Position
from onechange.position import _distance as distance
from onechange.position._perceptron import perceptron
from onechange.sizes import Sizes

LEAST = 1e-6
"""Added to the divisor, as in the paper's program."""


@final
class FirePosition(Position):
    """2 · ``hidden`` + ``hidden`` · heads + 2 parameters, shared by all layers; c and L are learned.

    ``steepness``: c at the start. ``threshold``: L at the start, as a share of the window; the paper's is 512 of 2,048
    tokens. ``hidden``: units of f. They begin with their switches spread evenly over [0, 1], every second one
    opening downwards. f has no last bias, which no softmax would see.
    """

    def __init__(
        self, sizes: Sizes, *, steepness: float = 0.1, threshold: float = 0.25, hidden: int = 32
    ) -> None:
        super().__init__(sizes)
        for key, value in (("steepness", steepness), ("threshold", threshold)):
            if value <= 0:
                raise ValueError(f"position.{key} = {value}: must be above 0")
        if hidden < 1:
            raise ValueError(f"position.hidden = {hidden}: must be at least 1")
        numbers = torch.arange(hidden)
        inward = 1.0 - 2.0 * (numbers % 2)
        self.inward = nn.Parameter(inward)
        self.shift = nn.Parameter(-inward * (numbers + 0.5) / hidden)
        self.outward = nn.Parameter(torch.empty(sizes.heads, hidden))
        # What is learned multiplies the first values, so that it starts the same whatever the settings.
        self.steepness = nn.Parameter(torch.tensor(1.0))
        self.threshold = nn.Parameter(torch.tensor(1.0))
        self.first_steepness = steepness
        self.first_threshold = threshold * sizes.window

    def bias(
        self, queries: Int[Tensor, " query"], keys: Int[Tensor, " key"]
    ) -> Float[Tensor, "heads query key"]:
        threshold = self.threshold.float().abs() * self.first_threshold
        before = self._bent(torch.maximum(queries.float(), threshold)) + LEAST
        distances = self._bent(distance.between(queries, keys).float()) / before[:, None]
        return perceptron(distances, self.inward.float(), self.shift.float(), self.outward.float())

    def _bent(self, x: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
        return torch.log1p(self.steepness.float().abs() * self.first_steepness * x)
