"""Generation with a key/value cache, against the model run on the whole text at once, for every member."""

import copy
from typing import Any

import member_facts
import numpy as np
import pytest
import torch
import torch.nn.functional as F
from model_part import USUAL

from onechange import family
from onechange.cached import Cached, decoder, remembers
from onechange.decoding import Recomputing
from onechange.first_weights import fill
from onechange.initialization.gpt2 import Gpt2Initialization
from onechange.model import Model
from onechange.sizes import Sizes

VOCABULARY = 29
UNTIED = {"embedding": "untied"}
Member = tuple[str, dict[str, Any]]


def members(*families: str) -> list[Any]:
    """Every member as it is by default; attention also with each of its settings turned."""
    found = []
    for kind in families:
        for name in family.members(kind):
            turns = member_facts.turns(kind, name)
            first = {key: value for key, (value, _) in turns.items()}
            found.append(pytest.param((kind, {"name": name, **first}), id=f"{kind}-{name}"))
            if kind == "attention":
                for key, (_, other) in turns.items():
                    turned = {"name": name, **first, key: other}
                    found.append(pytest.param((kind, turned), id=f"{kind}-{name}-{key}"))
    return found


def built(member: Member, window: int, layers: int = 2) -> Model:
    kind, settings = member
    # Untied: else each token would be likeliest after itself.
    parts = {each: family.resolve(each, name) for each, name in (USUAL | UNTIED | {kind: settings}).items()}
    model = Model(Sizes(layers, 4, 16, window, VOCABULARY), parts)
    fill(model, 0, layers, Gpt2Initialization(deviation=0.2))
    return model.eval()


@torch.no_grad()
def truth(model: Model, text: list[int], prompt: int) -> torch.Tensor:
    """The scores before each token after the prompt, in float64, whose rounding is none to speak of.

    Once a window is full, the half kept is read at 0, 1, …
    """
    model = copy.deepcopy(model).double()
    window, half, found = model.sizes.window, max(1, model.sizes.window // 2), []
    start, last = prompt - half if prompt > window else 0, prompt
    while last < len(text):
        end = min(start + window, len(text))  # causal: one pass over a text scores all of its beginnings
        scores = F.linear(model(torch.tensor([text[start:end]])), model.scoring)[0]
        found.append(scores[last - start - 1 : min(end, len(text) - 1) - start])
        start, last = end + 1 - half, end + 1
    return torch.cat(found).float()


def check(model: Model, prompts: list[int], tokens: int) -> None:
    """Greedy texts after random prompts of such lengths, side by side."""
    chance = np.random.default_rng(5)
    texts = [chance.integers(0, VOCABULARY, length) for length in prompts]
    written, seen = [text.tolist() for text in texts], []
    cached = Cached(model, len(prompts))
    cached.begin(dict(enumerate(texts)))
    for _ in range(tokens):
        scores = cached.scores().clone()
        seen.append(scores)
        best = scores.argmax(-1).numpy()
        for text, token in zip(written, best.tolist(), strict=True):
            text.append(token)
        cached.append(best)
    for row, length in enumerate(prompts):
        found, expected = torch.stack([scores[row] for scores in seen]), truth(model, written[row], length)
        assert found.shape == expected.shape
        torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)
        behind = expected.max(-1).values - expected.gather(1, found.argmax(-1, keepdim=True)).squeeze(1)
        assert behind.max() < 1e-5, "another token than without a cache, and no tie"
    if tokens >= 60:
        assert max(len(set(text[-200:])) for text in written) > 2, "texts of one token would show little"


@pytest.mark.filterwarnings("ignore:Mismatch dtype")  # a norm that is float32 always, in a model of float64
@pytest.mark.parametrize("member", members("position", "attention"))
def test_600_tokens_with_a_window_of_512(member: Member) -> None:
    check(built(member, window=512), [1, 300, 700], 600)


@pytest.mark.filterwarnings("ignore:Mismatch dtype")
@pytest.mark.parametrize("member", members("norm", "mlp", "placement", "embedding"))
def test_every_other_part_of_a_block(member: Member) -> None:
    check(built(member, window=40), [1, 33, 39, 40, 95], 60)


@pytest.mark.parametrize("window", [1, 2, 3, 31, 32, 33, 64, 65])
def test_any_window(window: int) -> None:
    check(
        built(("position", {"name": "learned"}), window), [1, max(1, window - 1), window + 1], 2 * window + 5
    )


def test_a_position_of_ones_own(strangers: str) -> None:
    check(built(("position", {"name": strangers, "steep": 0.3}), window=40), [3, 40, 50], 60)


def test_attention_that_keeps_nothing_is_read_anew(strangers: str) -> None:
    model = built(("attention", {"name": strangers}), window=16)
    assert not remembers(model)
    assert isinstance(decoder(model, 3), Recomputing)
    assert isinstance(decoder(built(("attention", {"name": "heads"}), 16), 3), Cached)
