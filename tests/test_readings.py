"""Where the surprise lies: against slow plain counts, and against the ruler's own sums."""

import math
from collections import defaultdict
from typing import Any

import numpy as np
import pytest

from onechange import kinds, readings
from onechange.encoding import encode
from onechange.kinds import KINDS
from onechange.measure import Measure, measure
from onechange.model import Model
from onechange.readings import Readings, measured
from onechange.tokenizer import Tokenizer
from small_models import as_lossy, bpe, character, plain_surprise, small_model, uniform_model

SEPARATOR = "\n\n"
STORIES = [
    "The cat sat on the mat, and Tom saw it.",
    "A dog ran to the red sun 12 times and back.",
    "Oh!",
    "Lily had a big hat, and so did Tom.",
]
WINDOWS = (1, 2, 3, 4, 5, 8, 13, 64, 500)


def everything() -> str:
    return "".join(STORIES) + SEPARATOR


def tokenizers() -> dict[str, Tokenizer]:
    return {"character": character(everything()), "bpe": bpe([*STORIES, SEPARATOR], 60)}


def read(
    model: Model, tokenizer: Tokenizer, stories: list[str] = STORIES, rows: int = 32
) -> tuple[Measure, Readings]:
    return measured(
        model, tokenizer, encode(tokenizer, stories, SEPARATOR), tokenizer.encode(SEPARATOR), rows
    )


def place_in(bins: list[dict[str, Any]], number: int) -> int:
    """Which of the bins holds the number; exactly one does."""
    (found,) = [at for at, each in enumerate(bins) if each["from"] <= number < each["to"]]
    return found


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("kind", ["character", "bpe"])
def test_position_and_context_are_those_of_windows_that_do_not_overlap(window: int, kind: str) -> None:
    """Every token scored alone, after what its window holds before it: window after window, the last moved back."""
    tokenizer = tokenizers()[kind]
    model = small_model(tokenizer.vocabulary_size, window)
    _, found = read(model, tokenizer)
    tokens = tokenizer.tokens()
    before = tokenizer.encode(SEPARATOR).tolist()[-window:]
    stream = before + [
        int(i) for text in STORIES for i in [*tokenizer.encode(text), *tokenizer.encode(SEPARATOR)]
    ]
    expected: dict[str, Any] = {
        name: defaultdict(lambda: [0.0, 0, 0]) for name in ("by_position", "by_context")
    }
    last = max(0, len(stream) - 1 - window)
    half = max(1, window // 2)
    stride = window // half * half  # of an odd window two halves are one token less
    starts = [min(last, start) for start in range(0, last + stride, stride)]
    for at in range(len(before), len(stream)):
        start = next(start for start in starts if at <= start + window)
        context = stream[start:at]
        nats = plain_surprise(model, context, stream[at])
        for name, number in (
            ("by_position", len(context)),
            ("by_context", sum(len(tokens[token]) for token in context)),
        ):
            sums = expected[name][place_in(getattr(found, name), number)]
            for column, value in enumerate((nats, len(tokens[stream[at]]), 1)):
                sums[column] += value
    for name, sums in expected.items():
        bins = getattr(found, name)
        assert len(bins) == len(sums)
        for place, (nats, characters, count) in sums.items():
            assert (bins[place]["characters"], bins[place]["tokens"]) == (characters, count)
            assert bins[place]["nats"] == pytest.approx(nats, rel=1e-4, abs=1e-4)


def test_bins_end_at_powers_of_two() -> None:
    tokenizer = character(everything())
    _, found = read(uniform_model(tokenizer.vocabulary_size, 8), tokenizer)
    assert [(each["from"], each["to"]) for each in found.by_position] == [(1, 2), (2, 3), (3, 5), (5, 9)]
    assert found.by_context == found.by_position, "a character model has as many characters in view as tokens"
    for each in found.by_position:
        assert each["nats"] == pytest.approx(each["tokens"] * math.log(tokenizer.vocabulary_size), rel=1e-6)


@pytest.mark.parametrize("kind", ["character", "bpe"])
@pytest.mark.parametrize("window", [2, 5, 16])
def test_kinds_and_characters_add_up_to_the_ruler(kind: str, window: int) -> None:
    tokenizer = tokenizers()[kind]
    model = small_model(tokenizer.vocabulary_size, window)
    ruler, found = read(model, tokenizer, STORIES * 4)
    alone = measure(model, tokenizer, encode(tokenizer, STORIES * 4, SEPARATOR), tokenizer.encode(SEPARATOR))
    assert ruler.nats.tolist() == alone.nats.tolist(), "the ruler's figures are not touched"
    assert set(found.by_kind) == set(KINDS)
    assert math.fsum(sums["nats"] for sums in found.by_kind.values()) == pytest.approx(
        ruler.total_nats, rel=1e-12
    )
    assert sum(sums["characters"] for sums in found.by_kind.values()) == ruler.characters
    ends = ruler.story_characters.cumsum()
    stories = [part.sum(dtype=np.float64) for part in np.split(found.characters, ends[:-1])]
    np.testing.assert_allclose(stories, ruler.nats, rtol=1e-6)


@pytest.mark.parametrize("kind", ["character", "bpe"])
def test_each_kind_has_the_nats_of_its_own_characters(kind: str) -> None:
    tokenizer = tokenizers()[kind]
    _, found = read(small_model(tokenizer.vocabulary_size, 8), tokenizer)
    names = kinds.names(STORIES)
    assert names == {"Tom"}
    labels = np.concatenate([kinds.of(story + SEPARATOR, names) for story in STORIES])
    for number, name in enumerate(KINDS):
        own = found.characters[labels == number]
        assert found.by_kind[name]["characters"] == len(own) > 0
        assert found.by_kind[name]["nats"] == pytest.approx(own.sum(dtype=np.float64), rel=1e-6)


def test_readings_do_not_depend_on_the_batch_size() -> None:
    tokenizer = tokenizers()["bpe"]
    model = small_model(tokenizer.vocabulary_size, 7)
    (_, one), (_, many) = (read(model, tokenizer, STORIES * 3, rows) for rows in (1, 64))
    for name in ("by_position", "by_context"):
        for a, b in zip(getattr(one, name), getattr(many, name), strict=True):
            assert a == {**b, "nats": pytest.approx(b["nats"], rel=1e-5)}
    np.testing.assert_allclose(one.characters, many.characters, rtol=1e-3, atol=1e-4)


def test_whole_stories_are_kept_up_to_the_most(monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = character(everything())
    model = small_model(tokenizer.vocabulary_size, 8)
    _, all_of_it = read(model, tokenizer)
    first, second = (len(story) + 2 for story in STORIES[:2])
    for most, kept in ((first + second, first + second), (first + second - 1, first), (first - 1, first - 1)):
        monkeypatch.setattr(readings, "MOST_CHARACTERS", most)
        _, found = read(model, tokenizer)
        assert found.characters.tolist() == all_of_it.characters[:kept].tolist()


def test_the_excerpt_is_rounded_and_the_sums_leave_it_out() -> None:
    tokenizer = character(everything())
    _, found = read(small_model(tokenizer.vocabulary_size, 8), tokenizer, STORIES * 30)
    content = found.to_json()
    assert set(content) == {"by_position", "by_context", "by_kind", "excerpt"}
    assert set(found.sums()) == {"by_position", "by_context", "by_kind"}
    lengths = [len(story) + 2 for story in STORIES * 30]
    ends = np.cumsum(lengths)
    assert len(content["excerpt"]) == ends[ends <= 1500][-1]
    np.testing.assert_allclose(content["excerpt"], found.characters[: len(content["excerpt"])], atol=5.1e-5)
    assert all(nats == round(nats, 4) for nats in content["excerpt"])


def test_what_the_ruler_refuses_is_refused_here_too() -> None:
    tokenizer = character(everything())
    model = small_model(tokenizer.vocabulary_size, 8)
    with pytest.raises(ValueError, match="empty"):
        read(model, tokenizer, [])
    with pytest.raises(ValueError, match="not lossless"):
        read(model, as_lossy(tokenizer))
