"""The family `attention`: how tokens look at the tokens before them. One file per kind."""

from abc import ABC, abstractmethod
from typing import ClassVar

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from onechange.key_value_cache import KeyValueCache
from onechange.position import Position
from onechange.sizes import Sizes


class Attention(nn.Module, ABC):
    """Causal: a token sees itself and what stands before it.

    The layer that writes into the residual stream is named ``out``: its first weights are scaled by the depth.
    """

    version: ClassVar[int] = 1
    out: nn.Linear
    reach: int | None = None
    """How many keys a query sees at most, itself included; ``None``: all before it."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.sizes = sizes

    @abstractmethod
    def forward(
        self,
        x: Float[Tensor, "*batch time width"],
        position: Position,
        positions: Int[Tensor, "*#batch time"],
        bias: Float[Tensor, "*rows heads time keys"] | None = None,
        cache: KeyValueCache | None = None,
    ) -> Float[Tensor, "*batch time width"]:
        """What is added to the residual stream. ``position`` turns queries and keys; ``bias`` is its bias between all
        ``positions``, added to the scores. Texts may stand at positions of their own, or all at the same ones.

        With a ``cache`` the tokens go on with texts that were begun: what is kept of these is looked back at too, and
        ``bias`` is between ``positions`` and the cache's places, for each row apart. Only a member that makes `room`
        is ever given one.
        """

    @abstractmethod
    def weights(
        self,
        x: Float[Tensor, "*batch time width"],
        position: Position,
        positions: Int[Tensor, "*#batch time"],
        bias: Float[Tensor, "heads time time"] | None = None,
    ) -> Float[Tensor, "*batch heads query key"]:
        """How much each query takes from each key, in float32; a query's weights are at least 0 and add up to 1."""

    def room(self, rows: int, length: int, dtype: torch.dtype) -> tuple[Tensor, Tensor] | None:
        """`onechange.key_value_cache.room` for so many texts of so many tokens. ``None``: this member keeps
        nothing, and texts that go on are read anew for every token."""
        return None
