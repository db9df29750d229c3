"""Models of a few hundred weights with strong opinions: their figures depend on every token they see."""

from collections.abc import Sequence
from typing import Any

import torch

from onechange import family
from onechange.alphabet import Alphabet
from onechange.first_weights import fill
from onechange.initialization.gpt2 import Gpt2Initialization
from onechange.model import Model
from onechange.settings import DEFAULTS
from onechange.sizes import Sizes
from onechange.tokenizer import Tokenizer
from onechange.tokenizer.bpe import Bpe
from onechange.tokenizer.character import Character


def usual_parts(**other: Any) -> dict[str, dict[str, Any]]:
    """The families of the model with their default members, or with the ``other`` ones that are named."""
    return {kind: family.resolve(kind, other.get(kind, DEFAULTS[kind])) for kind in family.MODEL_FAMILIES}


def small_model(
    vocabulary: int, window: int, *, position: str = "learned", dropout: float = 0.0, seed: int = 0
) -> Model:
    """Two layers of width 16, its weights far larger than first weights, so that context matters."""
    model = Model(Sizes(2, 2, 16, window, vocabulary, dropout), usual_parts(position=position))
    fill(model, seed, 2, Gpt2Initialization())
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim >= 2:
                parameter.mul_(20)
    return model


def uniform_model(vocabulary: int, window: int) -> Model:
    """Every token is as likely as any other: the table that makes the scores is zero."""
    model = small_model(vocabulary, window)
    with torch.no_grad():
        model.embedding.zero_()
    return model


def character(text: str) -> Character:
    """The characters of ``text`` as tokens."""
    tokenizer = Character()
    tokenizer.learn([text], "".join(sorted(set(text))))
    return tokenizer


def bpe(texts: Sequence[str], vocabulary: int) -> Bpe:
    """Merges learned from ``texts``."""
    tokenizer = Bpe(vocabulary=vocabulary)
    tokenizer.learn(texts, Alphabet("".join(sorted(set("".join(texts))))).characters)
    return tokenizer


def logits_after(model: Model, ids: Sequence[int]) -> torch.Tensor:
    """Scores of the token after ``ids``, computed for this one text alone, in float64."""
    assert 1 <= len(ids) <= model.sizes.window
    with torch.no_grad():
        return model.logits(model(torch.tensor([list(ids)])))[0, -1].double()


def plain_surprise(model: Model, ids: Sequence[int], target: int) -> float:
    """−ln p of ``target`` after ``ids`` in nats, from the definition."""
    scores = logits_after(model, ids)
    return float(torch.logsumexp(scores, 0) - scores[target])


# Members are final; only a test may bend one into what does not exist yet.
class Lossy(Character):  # type: ignore[misc]  # Character is final
    """A tokenizer that says of itself that it loses text."""

    loss = "it says so"


def as_lossy(tokenizer: Character) -> Tokenizer:
    """``tokenizer`` with the same ids, but not lossless."""
    lossy = Lossy()
    lossy.restore(tokenizer.to_json())
    return lossy
