"""Whether an exported model is the model: its scores, the tokens that it writes, the ids of its tokenizer."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from onechange import cached
from onechange.export.architectures._weights import blocks
from onechange.export.material import Material
from onechange.model import Model
from onechange.tokenizer import Tokenizer

ALLOWED = 1e-4
"""By how much scores may differ, in nats, float32 on both sides."""
ROUNDING = 1e-5
"""What may differ as a share of the largest number, which decides where that is more, and inside the model."""
FAR = 1024
"""Tokens up to which that holds. Others keep angles in float32, whose error grows with the position."""


def allowed(scores: Float[Tensor, "time vocabulary"]) -> float:
    """By how much others may differ from these. Where all are small, since little was learned, it is less."""
    largest = float(scores.abs().max())
    return max(ALLOWED * min(1.0, largest), ROUNDING * largest) * max(1.0, len(scores) / FAR)


class Differs(ValueError):
    """An export that is not the model it was made of."""

    def __init__(self, how: str) -> None:
        super().__init__(f"the export was tried and is not the model: {how}; nothing was written")


@dataclass(frozen=True)
class Agreement:
    """How well an export agrees with its model."""

    difference: float
    """The largest difference of two scores."""
    allowed: float
    """The largest that would have been allowed."""
    scores: int
    """How many were compared."""
    rows: int
    greedy: int
    """Tokens that both have written alike."""
    ties: int
    """Texts that part where two tokens are equally likely up to `ALLOWED`."""
    texts: int
    """Texts that have the same ids and are given back."""
    what: str
    """Of which text."""


Scores = Callable[[Int[Tensor, " time"]], Float[Tensor, "time vocabulary"]]
Features = Callable[[Int[Tensor, " time"]], list[Tensor]]


def scores(model: Model) -> Scores:
    """Ours."""

    @torch.no_grad()
    def found(ids: Int[Tensor, " time"]) -> Float[Tensor, "time vocabulary"]:
        return model.logits(model(ids[None]))[0]

    return found


def largest_difference(
    material: Material, ours: Scores, theirs: Scores, explained: Callable[[Tensor], str]
) -> tuple[float, float, int]:
    """Over all rows; what is allowed at most; how many scores it is. `Differs` says where it is more than allowed.

    ``explained``: for the ids of a row that differs, what in the model differs first, as the end of a sentence or "".
    """
    largest, most, count = 0.0, 0.0, 0
    for ids in material.rows:
        here, there = ours(ids), theirs(ids)
        if not here.isfinite().all():
            raise ValueError("the model's own scores are not finite numbers: there is nothing to export")
        if here.shape != there.shape:
            raise Differs(f"its scores are {tuple(there.shape)} where they should be {tuple(here.shape)}")
        apart, limit = (here - there).abs(), allowed(here)
        if not bool((apart <= limit).all()):
            wrong = ~(apart <= limit).all(-1)  # so that what is no number is wrong too
            place = int(wrong.nonzero()[0])
            raise Differs(
                f"scores differ by {float(apart[place].max()):.2g} (allowed: {limit:.2g}), first at token "
                f"{place + 1} of a text of {len(ids)}{explained(ids)}"
            )
        largest, most, count = max(largest, float(apart.max())), max(most, limit), count + apart.numel()
    return largest, most, count


def first_layer(ours: Sequence[Tensor], theirs: Sequence[Tensor]) -> str:
    """Of the features that go into the first block and come out of each, which differ first."""
    for number, (here, there) in enumerate(zip(ours, theirs, strict=False)):
        apart = float((here - there).abs().max())
        if not apart <= ROUNDING * float(here.abs().max()):
            what = "what goes into the first layer" if number == 0 else f"what comes out of layer {number}"
            return f"; {what} differs first, by {apart:.2g}"
    return "; what comes out of every layer is equal, so it is the last norm or the table"


@torch.no_grad()
def features(model: Model, ids: Int[Tensor, " time"]) -> list[Tensor]:
    """Of our model: what goes into the first block, and what comes out of each."""
    kept: list[Tensor] = []

    def entering(module: nn.Module, given: tuple[Tensor, ...]) -> None:
        kept.append(given[0][0])

    def leaving(module: nn.Module, given: tuple[Tensor, ...], made: Tensor) -> None:
        kept.append(made[0])

    layers = blocks(model)
    handles = [layers[0].register_forward_pre_hook(entering)]
    handles += [layer.register_forward_hook(leaving) for layer in layers]
    try:
        model(ids[None])
    finally:
        for handle in handles:
            handle.remove()
    return kept


def written(
    model: Model, prompts: Int[Tensor, "prompts time"], new: int
) -> tuple[Int[np.ndarray, "prompts new"], Float[np.ndarray, "prompts new"]]:
    """The likeliest tokens that our model goes on with, and by how much each beats the second."""
    decoder = cached.decoder(model, len(prompts))
    decoder.begin({row: ids.numpy() for row, ids in enumerate(prompts)})
    tokens, leads = [], []
    for _ in range(new):
        found = decoder.scores().numpy()
        best = found.argmax(1)
        sorted_scores = np.sort(found, axis=1)
        leads.append(
            sorted_scores[:, -1] - sorted_scores[:, -2] if found.shape[1] > 1 else np.inf + found[:, 0]
        )
        tokens.append(best)
        decoder.append(best)
    return np.stack(tokens, 1), np.stack(leads, 1)


def same_tokens(
    model: Model, prompts: Int[Tensor, "prompts time"], new: int, theirs: Int[np.ndarray, "prompts new"]
) -> tuple[int, int]:
    """How many tokens are written alike, and how many texts part at a tie. `Differs` where they part at none."""
    tokens, leads = written(model, prompts, new)
    alike, ties = 0, 0
    for row, (here, there) in enumerate(zip(tokens, theirs, strict=True)):
        parts = np.flatnonzero(here != there)
        if not len(parts):
            alike += len(here)
            continue
        place = int(parts[0])
        if leads[row, place] > 2 * ALLOWED:
            raise Differs(
                f"after {prompts.shape[1]} tokens of text {row + 1} it writes, by the likeliest, token {there[place]} "
                f"in place {place + 1} and not {here[place]}"
            )
        alike, ties = alike + place, ties + 1
    return alike, ties


def same_texts(
    tokenizer: Tokenizer,
    texts: Sequence[str],
    encode: Callable[[str], Iterable[int]],
    decode: Callable[[Sequence[int]], str],
) -> int:
    """How many texts have the same ids, and the same text for these; `Differs` names the first that has not."""
    for text in texts:
        ids, found = tokenizer.encode(text).tolist(), list(encode(text))
        if ids != found:
            place = next((n for n, (a, b) in enumerate(zip(ids, found, strict=False)) if a != b), -1)
            where = (
                f"token {place + 1} is {found[place]} and not {ids[place]}" if place >= 0 else "they go on"
            )
            raise Differs(
                f"the ids of {text[:40]!r} are others ({where}; {len(found)} in all, not {len(ids)})"
            )
        if (back := decode(ids)) != tokenizer.decode(ids):
            raise Differs(f"the ids of {text[:40]!r} are decoded as {back[:40]!r}")
    return len(texts)
