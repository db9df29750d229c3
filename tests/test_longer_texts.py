"""Texts longer than trained: against the ruler at the trained length, and token by token beyond it."""

import math

import numpy as np
import pytest
import torch

from onechange import longer_texts
from onechange.encoding import Encoding, encode
from onechange.longer_texts import longer
from onechange.model import Model
from onechange.readings import measured
from onechange.tokenizer import Tokenizer
from small_models import bpe, character, plain_surprise, small_model

SEPARATOR = "\n\n"
STORIES = [
    "The cat sat on the mat, and Tom saw it.",
    "A dog ran to the red sun and back.",
    "Oh!",
    "Lily had a big hat, and so did Tom.",
] * 2
TOKENIZERS = {
    "character": character("".join(STORIES) + SEPARATOR),
    "bpe": bpe([*STORIES, SEPARATOR], 60),
}


def read(model: Model, tokenizer: Tokenizer) -> dict:
    text = encode(tokenizer, STORIES, SEPARATOR)
    return longer(model, ids_of(text), text.tokens.characters, tokenizer.encode(SEPARATOR).astype(np.int64))


def ids_of(text: Encoding) -> np.ndarray:
    return text.ids.astype(np.int64)


@pytest.mark.parametrize("kind", TOKENIZERS)
@pytest.mark.parametrize("window", [2, 4, 8, 64, 500])
def test_at_the_trained_length_it_is_what_the_ruler_reads_in_windows_that_do_not_overlap(
    window: int, kind: str
) -> None:
    tokenizer = TOKENIZERS[kind]
    model = small_model(tokenizer.vocabulary_size, window)
    text = encode(tokenizer, STORIES, SEPARATOR)
    _, ruler = measured(model, tokenizer, text, tokenizer.encode(SEPARATOR))
    found = read(model, tokenizer)["lengths"][0]
    assert (found["times"], found["window"], found["why_not"]) == (1, window, None)
    for ours, theirs in zip(found["by_position"], ruler.by_position, strict=True):
        assert ours == {**theirs, "nats": pytest.approx(theirs["nats"], rel=1e-5)}
    assert found["nats"] == pytest.approx(math.fsum(each["nats"] for each in ruler.by_position), rel=1e-6)


@pytest.mark.parametrize("kind", TOKENIZERS)
@pytest.mark.parametrize("position", ["none", "rope"])
def test_a_longer_window_is_what_a_model_of_that_window_with_the_same_weights_reads(
    kind: str, position: str
) -> None:
    """Token by token, each scored alone after all that its window of four times the length holds before it."""
    tokenizer, window = TOKENIZERS[kind], 5
    model, wide = (small_model(tokenizer.vocabulary_size, size, position=position) for size in (5, 20))
    found = read(model, tokenizer)["lengths"][2]
    stream = tokenizer.encode(SEPARATOR).tolist()
    before = len(stream)
    stream += ids_of(encode(tokenizer, STORIES, SEPARATOR)).tolist()
    last = len(stream) - 1 - 4 * window
    nats, at_its_first_place = [], 0.0
    for at in range(before, len(stream)):
        start = min((at - 1) // (4 * window) * 4 * window, last)
        nats.append(plain_surprise(wide, stream[start:at], stream[at]))
        at_its_first_place += nats[-1] if at - start == 1 else 0.0
    assert found["nats"] == pytest.approx(math.fsum(nats), rel=1e-5)
    assert sum(each["tokens"] for each in found["by_position"]) == len(nats)
    assert found["by_position"][0]["nats"] == pytest.approx(at_its_first_place, rel=1e-5)


def test_the_same_characters_count_at_every_length() -> None:
    tokenizer = TOKENIZERS["bpe"]
    found = read(small_model(tokenizer.vocabulary_size, 7, position="none"), tokenizer)
    assert [each["window"] for each in found["lengths"]] == [7, 14, 28]
    assert found["characters"] == sum(len(story) + 2 for story in STORIES)
    for each in found["lengths"]:
        assert sum(part["characters"] for part in each["by_position"]) == found["characters"]
        assert sum(part["tokens"] for part in each["by_position"]) == found["tokens"]


def test_where_there_are_no_more_positions_it_says_so() -> None:
    tokenizer = TOKENIZERS["character"]
    first, *others = read(small_model(tokenizer.vocabulary_size, 8), tokenizer)["lengths"]
    assert first["nats"] > 0
    for each in others:
        assert each["nats"] is None and each["by_position"] == []
        assert each["why_not"] == "the model has 8 positions and no more"


def test_as_many_positions_as_a_longer_window_has_are_enough() -> None:
    tokenizer = TOKENIZERS["character"]
    model = small_model(tokenizer.vocabulary_size, 8, position="none")
    model.position.longest = 16
    assert [each["nats"] is None for each in read(model, tokenizer)["lengths"]] == [False, False, True]


def test_other_reasons_not_to_read_at_a_length(monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = TOKENIZERS["character"]

    def reasons(model: Model) -> list[str | None]:
        return [each["why_not"] for each in read(model, tokenizer)["lengths"]]

    tokens = sum(len(story) + 2 for story in STORIES) + 1
    model = small_model(tokenizer.vocabulary_size, 100, position="none")
    assert reasons(model) == [None, None, f"the text that is read has {tokens} tokens"]
    monkeypatch.setattr(longer_texts, "MOST_POSITIONS", 150)
    assert reasons(model)[1] == "windows of more than 150 tokens are not tried"
    with torch.no_grad():
        model.embedding[3] = math.nan
    assert reasons(model)[0] == "what the model predicts there is not finite"


def test_how_many_windows_are_read_at_once_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = TOKENIZERS["character"]
    model = small_model(tokenizer.vocabulary_size, 6, position="rope")
    together = read(model, tokenizer)
    monkeypatch.setattr(longer_texts, "_SCORES_AT_ONCE", 1)
    for one, many in zip(read(model, tokenizer)["lengths"], together["lengths"], strict=True):
        assert one["nats"] == pytest.approx(many["nats"], rel=1e-5)
