"""The whole forward pass on one page. It knows families, never members.

tokens → embedding (+ position) → blocks of attention and mlp, each with a residual around it and norms where the
placement has them → the last norm → scores against a table, by default the one that was read.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, cast

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from onechange import dropout, family
from onechange.attention import Attention
from onechange.dropout import Dropout, drop
from onechange.embedding import Embedding
from onechange.family import build
from onechange.key_value_cache import KeyValueCache
from onechange.mlp import Mlp
from onechange.placement import Placement
from onechange.position import Position
from onechange.sizes import Sizes


class Block(nn.Module):
    """One layer: attention, then mlp, each on normalised input and added to the stream."""

    def __init__(self, sizes: Sizes, parts: Mapping[str, Mapping[str, Any]]) -> None:
        super().__init__()
        around = partial(
            build, "placement", parts["placement"], sizes, partial(build, "norm", parts["norm"], sizes)
        )
        self.attention_norm: Placement = around()
        self.attention: Attention = build("attention", parts["attention"], sizes)
        self.mlp_norm: Placement = around()
        self.mlp: Mlp = build("mlp", parts["mlp"], sizes)
        self.dropout = sizes.dropout

    def forward(
        self,
        x: Float[Tensor, "*batch time width"],
        position: Position,
        positions: Int[Tensor, "*#batch time"],
        bias: Float[Tensor, "*rows heads time keys"] | None = None,
        keys: Int[Tensor, "2 2"] | None = None,
        cache: KeyValueCache | None = None,
    ) -> Float[Tensor, "*batch time width"]:
        """``bias``: what ``position`` adds to the scores. ``keys``: of the dropout on what attention and mlp add,
        ``None`` for none. ``cache``: of texts that go on."""
        seen = () if cache is None else (cache,)
        mixed = self.attention(self.attention_norm.before(x), position, positions, bias, *seen)
        x = self.attention_norm.after(x, mixed if keys is None else drop(mixed, self.dropout, keys[0]))
        thought = self.mlp(self.mlp_norm.before(x))
        return self.mlp_norm.after(x, thought if keys is None else drop(thought, self.dropout, keys[1]))


class Model(nn.Module):
    """``parts`` maps each family of the model to a resolved member, ``{"name": …, settings…}``.

    Its weights are uninitialised until `onechange.first_weights.fill` has drawn them or a checkpoint is loaded.
    """

    def __init__(self, sizes: Sizes, parts: Mapping[str, Mapping[str, Any]]) -> None:
        super().__init__()
        self.sizes = sizes
        self.embedding = nn.Parameter(torch.empty(sizes.vocabulary, sizes.width))
        self.position: Position = build("position", parts["position"], sizes)
        self.dropout = Dropout(sizes.dropout)
        self.blocks = nn.ModuleList(Block(sizes, parts) for _ in range(sizes.layers))
        last = family.member("placement", parts["placement"]["name"]).last
        self.norm: nn.Module = last(partial(build, "norm", parts["norm"], sizes))
        self.unembedding: Embedding = build("embedding", parts["embedding"], sizes)
        self.recompute = False
        """Whether training keeps only what goes into each block, and computes the rest anew for the gradients."""

    def forward(
        self, tokens: Int[Tensor, "batch time"], positions: Int[Tensor, " time"] | None = None
    ) -> Float[Tensor, "batch time width"]:
        """The features from which the next token is predicted. ``positions`` default to 0, 1, 2, …"""
        if positions is None:
            positions = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.position.embed(F.embedding(tokens, self.embedding), positions)
        bias = self.position.bias(positions, positions)  # once for all blocks
        keys = None
        if self.sizes.dropout and self.training:
            keys = dropout.keys(1 + 2 * len(self.blocks)).to(x.device)
            x = self.dropout(x, keys[0])
        for number, block in enumerate(self.blocks):
            given = (x, self.position, positions, bias, None if keys is None else keys[1 + 2 * number :][:2])
            if self.recompute:  # all that is random was drawn above
                x = checkpoint(block, *given, use_reentrant=False, preserve_rng_state=False)
            else:
                x = block(*given)
        return self.norm(x)

    def room(self, rows: int, length: int, dtype: torch.dtype) -> list[tuple[Tensor, Tensor]] | None:
        """What each block's attention needs to keep so many texts of so many tokens; ``None`` if it keeps nothing."""
        made = [block.attention.room(rows, length, dtype) for block in cast(Iterable[Block], self.blocks)]
        found = [kept for kept in made if kept is not None]
        return found if len(found) == len(made) else None

    def go_on(
        self, tokens: Int[Tensor, "rows time"], caches: Sequence[KeyValueCache]
    ) -> Float[Tensor, "rows time width"]:
        """The features of ``tokens`` that go on with texts; no dropout.

        ``caches``: what each block keeps of the texts. They say where the tokens stand, and take them up.
        """
        positions, places = caches[0].now.positions, caches[0].now.places.flatten()
        flat = (
            positions.flatten()
        )  # position may speak of one text only: all rows' tokens are laid end to end
        x = self.position.embed(F.embedding(tokens, self.embedding).view(1, len(flat), -1), flat)
        x = x.view(*tokens.shape, -1)
        bias = self.position.bias(flat, places)
        if bias is not None:
            bias = bias.unflatten(1, tokens.shape).movedim(1, 0)
        for block, cache in zip(self.blocks, caches, strict=True):
            x = block(x, self.position, positions, bias, cache=cache)
        return self.norm(x)

    @property
    def scoring(self) -> Float[Tensor, "vocabulary width"]:
        """The table whose products with the features are the scores."""
        return self.unembedding(self.embedding)

    def logits(self, features: Float[Tensor, "... width"]) -> Float[Tensor, "... vocabulary"]:
        """Unnormalised log-probabilities of every token, in float32."""
        return F.linear(features, self.scoring).float()

    def nats(
        self, tokens: Int[Tensor, "batch time"], targets: Int[Tensor, "batch time"]
    ) -> Float[Tensor, "batch time"]:
        """The surprise at every target, −ln p, in nats, float32."""
        return surprise(self(tokens), self.scoring, targets)


def surprise(
    features: Float[Tensor, "batch time width"],
    scoring: Float[Tensor, "vocabulary width"],
    targets: Int[Tensor, "batch time"],
) -> Float[Tensor, "batch time"]:
    """−ln p of every target, in nats; the softmax is float32 whatever the precision of the product."""
    logits = F.linear(features, scoring).float()
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="none").view(targets.shape)


def parameter_count(model: nn.Module) -> int:
    """Learned numbers, shared ones counted once."""
    return sum(parameter.numel() for parameter in model.parameters())
