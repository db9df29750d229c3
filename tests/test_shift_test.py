"""The shift test: against a block by block forward pass and KL in float64, and what each position must do."""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from onechange import shift_test
from onechange.encoding import Encoding, encode
from onechange.model import Model
from onechange.shift_test import passages, shift
from onechange.tokenizer import Tokenizer
from small_models import bpe, character, small_model

SEPARATOR = "\n\n"
STORIES = [
    "The cat sat on the mat, and Tom saw it. It was a very good mat.",
    "A dog ran to the red sun and back, since nobody had told him to stop.",
    "Oh!",
]
TOKENIZERS = {
    "character": character("".join(STORIES) + SEPARATOR),
    "bpe": bpe([*STORIES, SEPARATOR], 60),
}


def text_of(tokenizer: Tokenizer) -> tuple[Encoding, np.ndarray]:
    return encode(tokenizer, STORIES, SEPARATOR), tokenizer.encode(SEPARATOR).astype(np.int64)


def shifted(model: Model, tokenizer: Tokenizer) -> dict:
    found = shift(model, *text_of(tokenizer))
    assert found is not None
    return found


def stream_of(model: Model, ids: np.ndarray, place: int) -> list[torch.Tensor]:
    """What stands in the residual stream, block by block."""
    positions = torch.arange(place, place + len(ids))
    x = model.position.embed(F.embedding(torch.from_numpy(ids)[None], model.embedding), positions)
    bias = model.position.bias(positions, positions)
    found = [x]
    for block in model.blocks:
        found.append(block(found[-1], model.position, positions, bias))
    return [each[0] for each in found]


def log_probabilities(model: Model, x: torch.Tensor) -> np.ndarray:
    scores = model.norm(x).double().numpy() @ model.embedding.double().numpy().T
    return scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True)


@pytest.mark.parametrize("kind", TOKENIZERS)
@torch.no_grad()
def test_changes_and_divergences_are_those_of_a_plain_count(kind: str) -> None:
    tokenizer = TOKENIZERS[kind]
    model = small_model(tokenizer.vocabulary_size, 32)
    text, separator = text_of(tokenizer)
    found = shifted(model, tokenizer)
    assert found["positions"] == [0, 18]
    changes, divergences, nats = [[], [], []], [[], [], []], [[], []]
    parts = passages(text, separator, 32 - 18)
    for part in parts:
        near, far = (stream_of(model, part[:-1], place) for place in (0, 18))
        for layer, (a, b) in enumerate(zip(near, far, strict=True)):
            changes[layer] += (np.linalg.norm(a - b, axis=-1) / np.linalg.norm(a, axis=-1)).tolist()
            p, q = log_probabilities(model, a), log_probabilities(model, b)
            divergences[layer] += np.sum(np.exp(p) * (p - q), axis=-1).tolist()
        for which, stream in enumerate((near, far)):
            guess = log_probabilities(model, stream[-1])
            nats[which] += (-guess[np.arange(len(part) - 1), part[1:]]).tolist()
    assert (found["passages"], found["tokens"]) == (3, len(nats[0]))
    assert found["surprise"] == pytest.approx([np.mean(each) for each in nats], rel=1e-5)
    moved = np.abs(np.array(nats[1]) - np.array(nats[0])).mean()
    assert found["surprise_change"] == pytest.approx(moved, rel=1e-5)
    for layer, each in enumerate(found["layers"]):
        assert each["change"] == pytest.approx(np.mean(changes[layer]), rel=1e-5)
        assert each["kl"] == pytest.approx(np.mean(divergences[layer]), rel=1e-4)


def test_the_same_phrase_is_another_one_to_learned_positions() -> None:
    """The article's argument: in the embedding already, and so in what is predicted."""
    tokenizer = TOKENIZERS["character"]
    found = shifted(small_model(tokenizer.vocabulary_size, 64), tokenizer)
    assert all(layer["change"] > 0.1 for layer in found["layers"])
    assert found["layers"][-1]["kl"] > 0.1 and found["surprise_change"] > 0.1


@pytest.mark.parametrize("position", ["none", "rope", "stranger"])
def test_to_a_model_that_knows_distances_alone_it_is_the_same(strangers: str, position: str) -> None:
    tokenizer = TOKENIZERS["character"]
    found = shifted(small_model(tokenizer.vocabulary_size, 64, position=position), tokenizer)
    assert found["layers"][0] == {"change": 0.0, "kl": 0.0}
    for layer in found["layers"]:
        assert abs(layer["change"]) < 1e-4 and abs(layer["kl"]) < 1e-5
    assert found["surprise_change"] < 1e-3
    assert found["surprise"][0] > 1, "it does look at the passages"


def test_places_are_10_and_300_of_512() -> None:
    tokenizer = TOKENIZERS["character"]
    found = shifted(small_model(tokenizer.vocabulary_size, 512, position="none"), tokenizer)
    assert found["positions"] == [10, 300]


@pytest.mark.parametrize("room", [5, 12, 30, 400])
def test_passages_are_the_same_text_whatever_the_tokens(room: int) -> None:
    read = {}
    for kind, tokenizer in TOKENIZERS.items():
        parts = passages(*text_of(tokenizer), room)
        assert all(len(part) <= room + 1 for part in parts)
        read[kind] = [tokenizer.decode(part.tolist()) for part in parts]
    whole = [(SEPARATOR + story + SEPARATOR)[: room + 1] for story in STORIES]
    assert read["character"] == whole
    longest = max(len(token) for token in TOKENIZERS["bpe"].tokens())
    for one, other in zip(read["bpe"], whole, strict=True):
        assert other.startswith(one) and len(other) - len(one) < longest


def test_passages_have_their_most(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shift_test, "MOST_CHARACTERS", 9)
    monkeypatch.setattr(shift_test, "PASSAGES", 2)
    tokenizer = TOKENIZERS["character"]
    found = [tokenizer.decode(part.tolist()) for part in passages(*text_of(tokenizer), 50)]
    assert found == [SEPARATOR + story[:9] for story in STORIES[:2]]


@pytest.mark.parametrize("window", [1, 2])
def test_in_a_window_without_room_nothing_is_moved(window: int) -> None:
    tokenizer = TOKENIZERS["character"]
    assert shift(small_model(tokenizer.vocabulary_size, window), *text_of(tokenizer)) is None


def test_how_many_passages_are_read_at_once_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = TOKENIZERS["bpe"]
    model = small_model(tokenizer.vocabulary_size, 32)
    together = shifted(model, tokenizer)
    monkeypatch.setattr(shift_test, "_SCORES_AT_ONCE", 1)
    alone = shifted(model, tokenizer)
    assert alone["tokens"] == together["tokens"]
    for one, many in zip(alone["layers"], together["layers"], strict=True):
        assert math.isclose(one["kl"], many["kl"], rel_tol=1e-4)
        assert math.isclose(one["change"], many["change"], rel_tol=1e-4)
