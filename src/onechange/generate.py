"""Continuing prompts: temperature, top-k, a stream of random numbers of its own for every prompt.

When the window is full, the last half is kept and read anew at positions 0, 1, 2, …, for every member alike.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from onechange.model import Model
from onechange.seed import stream
from onechange.tokenizer import Tokenizer


@dataclass(frozen=True)
class Continuation:
    """What a model wrote after a prompt, the prompt itself left out."""

    prompt: str
    text: str
    tokens: int


def generate(
    model: Model,
    tokenizer: Tokenizer,
    prompts: Sequence[str],
    *,
    tokens: int,
    seed: int,
    temperature: float,
    top_k: int,
) -> list[Continuation]:
    """``tokens`` new tokens after each prompt. ``temperature`` 0 takes the likeliest token; ``top_k`` at or above the
    vocabulary keeps all.

    The same prompt and seed give the same text alone or beside others (ties aside). Raises a `ValueError` for a
    setting that makes no sense, an empty prompt, and a prompt with characters outside the alphabet.
    """
    if tokens < 1:
        raise ValueError(f"tokens = {tokens}: must be at least 1")
    if not temperature >= 0 or not np.isfinite(temperature):
        raise ValueError(f"temperature = {temperature}: must be a finite number, at least 0")
    if top_k < 1:
        raise ValueError(f"top_k = {top_k}: must be at least 1")
    if not prompts:
        return []
    contexts: list[np.ndarray] = []
    for prompt in prompts:
        if not prompt:
            raise ValueError('prompt = "": must not be empty')
        try:
            contexts.append(tokenizer.encode(prompt).astype(np.int64))
        except ValueError as error:
            raise ValueError(f"prompt {prompt!r}: {error.args[0]}") from None
    streams = [stream(seed, "sample", prompt) for prompt in prompts]
    written: list[list[int]] = [[] for _ in prompts]
    seen = [_kept(context, model.sizes.window) for context in contexts]
    was_training = model.training
    model.eval()
    try:
        for _ in range(tokens):
            logits = _next_logits(model, seen).numpy()
            for row in range(len(prompts)):
                token = pick(logits[row], streams[row].random(), temperature, top_k)
                written[row].append(token)
                seen[row] = _kept(np.append(seen[row], token), model.sizes.window)
    finally:
        model.train(was_training)
    return [
        Continuation(prompt, tokenizer.decode(ids), len(ids))
        for prompt, ids in zip(prompts, written, strict=True)
    ]


def pick(logits: Float[np.ndarray, " vocabulary"], draw: float, temperature: float, top_k: int) -> int:
    """The token that ``draw``, uniform in [0, 1), chooses among the ``top_k`` likeliest; ties go to the lower id."""
    order = np.argsort(-logits, kind="stable")[:top_k]
    if temperature == 0:
        return int(order[0])
    behind = logits[order].astype(np.float64) - logits[order[0]]
    with np.errstate(over="ignore"):  # near temperature 0 all but the likeliest are infinitely far behind
        weights = np.exp(behind / temperature).cumsum()
    return int(order[min(np.searchsorted(weights, draw * weights[-1], side="right"), len(order) - 1)])


def _kept(ids: Int[np.ndarray, " tokens"], window: int) -> Int[np.ndarray, " kept"]:
    """What the model still sees: all of ``ids``, or their last half window once they are more than a window."""
    return ids if len(ids) <= window else ids[-max(1, window // 2) :]


@torch.no_grad()
def _next_logits(
    model: Model, seen: Sequence[Int[np.ndarray, " tokens"]]
) -> Float[Tensor, "rows vocabulary"]:
    """Scores of the token after each text. Shorter texts are filled up behind, where causal attention cannot look."""
    longest = max(len(ids) for ids in seen)
    batch = torch.from_numpy(np.stack([np.pad(ids, (0, longest - len(ids))) for ids in seen]))
    last = torch.tensor([len(ids) - 1 for ids in seen])
    return model.logits(model(batch)[torch.arange(len(seen)), last])
