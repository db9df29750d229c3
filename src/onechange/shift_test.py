"""The shift test: the same passage read at two places of the window, and how far the model's view of it changes.

Passages are the beginnings of stories, with the separator before them and nothing else in view, at positions that
begin at 10/512 and at 300/512 of the window. Layer by layer: the features' change ‖a − b‖ / ‖a‖, and what a reader of
that layer would predict otherwise, KL(p_a ‖ p_b) in nats of the next token, through the last norm and the scores
(nostalgebraist 2020, the logit lens, https://www.lesswrong.com/posts/AcKRB8wDpdaN6v6ru/interpreting-gpt-the-logit-lens).
A model that looks at distances alone gives 0 up to rounding.
"""

from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from onechange.encoding import Encoding
from onechange.model import Model

PASSAGES = 64
MOST_CHARACTERS = 256
"""Of a passage."""
_SCORES_AT_ONCE = 2**24


@torch.no_grad()
def shift(model: Model, text: Encoding, separator: Int[np.ndarray, " separator"]) -> dict[str, Any] | None:
    """Means over all tokens that are predicted from the passages; ``None`` where a window has no room to move them.

    ``layers``: the embedding, position included, then the residual stream after every block. ``surprise`` is the mean
    at the true token, at either place; ``surprise_change`` the mean of how much it differs there, sign left out.
    """
    window = model.sizes.window
    places = window * 10 // 512, window * 300 // 512
    kept = [part for part in passages(text, separator, window - places[1]) if len(part) > len(separator)]
    if not kept or places[0] == places[1]:
        return None
    sums, tokens = torch.zeros(3 + 2 * (1 + model.sizes.layers), dtype=torch.float64), 0
    rows = max(1, _SCORES_AT_ONCE // (model.sizes.vocabulary * max(map(len, kept))))
    for first in range(0, len(kept), rows):
        batch, counts = _padded(kept[first : first + rows])
        near, far = (_read(model, batch[:, :-1], place) for place in places)
        sums += _sums(model, near, far, batch[:, 1:], counts)
        tokens += int(counts.sum())
    means = [float(f"{value:.6g}") for value in (sums / tokens).tolist()]
    return {
        "positions": list(places),
        "passages": len(kept),
        "tokens": tokens,
        "characters": int(sum(text.tokens.characters[part[1:]].sum() for part in kept)),
        "surprise": means[:2],
        "surprise_change": means[2],
        "layers": [{"change": change, "kl": kl} for change, kl in zip(means[3::2], means[4::2], strict=True)],
    }


def passages(
    text: Encoding, separator: Int[np.ndarray, " separator"], room: int
) -> list[Int[np.ndarray, "_"]]:
    """The first stories' beginnings, the separator before each: of each so many whole tokens as, with it, a model of
    characters would have ``room`` to read and one more to predict."""
    length = text.tokens.characters
    most = min(MOST_CHARACTERS, room + 1 - int(length[separator].sum()))
    ends = text.story_tokens[:PASSAGES].cumsum()
    found = []
    for start, end in zip(ends - text.story_tokens[:PASSAGES], ends, strict=True):
        story = text.ids[start : min(end, start + room + 1)].astype(np.int64)
        whole = int(np.searchsorted(length[story].cumsum(), most, side="right"))
        found.append(np.concatenate([separator, story[:whole]])[: room + 1])
    return found


def _padded(parts: list[np.ndarray]) -> tuple[Int[Tensor, "rows tokens"], Bool[Tensor, "rows time"]]:
    """Passages filled up behind, where causal attention cannot look, and which of their targets count."""
    longest = max(map(len, parts))
    batch = torch.from_numpy(np.stack([np.pad(part, (0, longest - len(part))) for part in parts]))
    lengths = torch.tensor([len(part) for part in parts])
    return batch, torch.arange(1, longest) < lengths[:, None]


def _read(
    model: Model, tokens: Int[Tensor, "rows time"], place: int
) -> list[Float[Tensor, "rows time width"]]:
    """The residual stream into the first block and out of every block, the tokens standing at ``place`` and after."""
    seen: list[Tensor] = []

    def enter(block: nn.Module, given: tuple) -> None:
        seen.append(given[0])

    def leave(block: nn.Module, given: tuple, made: Tensor) -> None:
        seen.append(made)

    hooks = [model.blocks[0].register_forward_pre_hook(enter)]
    hooks += [block.register_forward_hook(leave) for block in model.blocks]
    try:
        model(tokens, place + torch.arange(tokens.shape[1]))
    finally:
        for hook in hooks:
            hook.remove()
    return seen


def _sums(
    model: Model, near: list[Tensor], far: list[Tensor], targets: Tensor, counts: Tensor
) -> Float[Tensor, " figures"]:
    """Surprise near and far, its change, and every layer's change and KL, over the targets that count, in float64."""
    layers: list[Tensor] = []
    guesses: list[Tensor] = []
    for a, b in zip(near, far, strict=True):
        guesses = [model.logits(model.norm(x)).log_softmax(-1) for x in (a, b)]
        p, q = guesses
        layers += ((a - b).norm(dim=-1) / a.norm(dim=-1), (p.exp() * (p - q)).sum(-1))
    nats = [-guess.gather(-1, targets[..., None])[..., 0] for guess in guesses]
    figures = [*nats, (nats[1] - nats[0]).abs(), *layers]
    return torch.stack([figure[counts].double().sum() for figure in figures])
