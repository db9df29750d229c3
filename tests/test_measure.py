"""The ruler: law 4, against a slow plain count that scores one token at a time with an explicit context."""

import math

import numpy as np
import pytest
import torch

from onechange import scoring
from onechange.encoding import Encoding, encode
from onechange.measure import Measure, measure, surprises
from onechange.model import Model
from onechange.tokenizer import Tokenizer
from small_models import as_lossy, bpe, character, plain_surprise, small_model, uniform_model

TOLERANCE = 2e-6
"""Relative: the forward pass is float32, whose products add up in another order for another batch."""

SEPARATOR = "\n\n"
STORIES = [
    "The cat sat on the mat.",
    "A dog ran to the red sun and back.",
    "Oh!",
    "Lily had a big hat, and so did Tom.",
]
WINDOWS = (1, 2, 3, 4, 5, 8, 13, 64)


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


def scored(model: Model, tokenizer: Tokenizer, stories: list[str] = STORIES, rows: int = 32) -> Measure:
    text = encode(tokenizer, stories, SEPARATOR)
    return measure(model, tokenizer, text, tokenizer.encode(SEPARATOR), rows)


def everything() -> str:
    return "".join(STORIES) + SEPARATOR


def contexts(tokens: int, context: int, window: int) -> list[int]:
    """How many tokens stand before each target within its window: law 4 and the design's decisions, spelled out.

    Windows of ``window`` inputs start half a window apart, the last one where the text ends. A token counts in the
    first window that reaches it.
    """
    inputs = context + tokens - 1
    half = max(1, window // 2)
    starts = [0]
    while starts[-1] + window < inputs:
        starts.append(min(starts[-1] + half, inputs - window))
    found = []
    for target in range(context, context + tokens):
        start = next(start for start in starts if target <= start + window)
        found.append(target - start)
    return found


def plain_count(model: Model, ids: list[int], before: list[int]) -> list[float]:
    """Every token scored alone, after exactly the context that the rule gives it."""
    window = model.sizes.window
    before = before[-window:]
    stream = before + ids
    lengths = contexts(len(ids), len(before), window)
    return [
        plain_surprise(model, stream[at - length : at], stream[at])
        for at, length in zip(range(len(before), len(stream)), lengths, strict=True)
    ]


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("position", ["learned", "rope"])
def test_every_token_has_the_surprise_of_a_plain_count(window: int, position: str) -> None:
    tokenizer = character(everything())
    model = small_model(tokenizer.vocabulary_size, window, position=position)
    before = tokenizer.encode(SEPARATOR)
    ids = encode(tokenizer, STORIES, SEPARATOR).ids
    for length in (1, 2, window - 1, window, window + 1, 2 * window, 2 * window + 1, len(ids)):
        if not 1 <= length <= len(ids):
            continue
        expected = plain_count(model, ids[:length].tolist(), before.tolist())
        found = surprises(model, ids[:length], before)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6, err_msg=f"{length} tokens")


@pytest.mark.parametrize("window", range(1, 14))
def test_the_rule_gives_every_token_half_a_window_of_context(window: int) -> None:
    for context in range(1, min(window, 4) + 1):
        for tokens in range(1, 5 * window):
            lengths = contexts(tokens, context, window)
            assert max(lengths) <= window
            for at, length in enumerate(lengths):
                assert length >= min(context + at, math.ceil(window / 2))


@pytest.mark.parametrize("window", WINDOWS)
def test_no_token_is_scored_twice_and_none_is_left_out(window: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model whose surprise at a token is the token's own number: what is scored can be read off."""

    def own_number(features: torch.Tensor, embedding: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        calls.append(targets.shape)
        return targets.float()

    calls: list[torch.Size] = []
    monkeypatch.setattr(scoring, "surprise", own_number)
    model = small_model(80, window)
    for tokens in (1, 2, 3, window, window + 1, min(3 * window + 1, 73), 57):
        ids = np.arange(7, 7 + tokens)
        for rows in (1, 3):
            np.testing.assert_array_equal(surprises(model, ids, np.array([1, 2]), rows), ids)
    assert all(shape[1] <= window for shape in calls)


def test_the_first_token_sees_the_separator() -> None:
    tokenizer = character(everything())
    model = small_model(tokenizer.vocabulary_size, 16)
    ids = encode(tokenizer, STORIES, SEPARATOR).ids
    first = int(ids[0])
    for before in (SEPARATOR, "Tom", "."):
        context = tokenizer.encode(before)
        expected = plain_surprise(model, context.tolist(), first)
        assert surprises(model, ids, context)[0] == pytest.approx(expected, rel=1e-5)
    short, long = (surprises(model, ids, tokenizer.encode(before))[0] for before in ("\n", SEPARATOR))
    assert short != long


@pytest.mark.parametrize("context", [1, 2, 3, 4, 5, 9])
def test_a_separator_as_long_as_the_window_or_longer(context: int) -> None:
    tokenizer = character("abc-")
    model = small_model(tokenizer.vocabulary_size, 4)
    before = tokenizer.encode("-" * context)
    ids = tokenizer.encode("abcabcab").astype(np.int64)
    np.testing.assert_allclose(
        surprises(model, ids, before), plain_count(model, ids.tolist(), before.tolist()), rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize("window", [1, 2, 7, 16])
@pytest.mark.parametrize("kind", ["character", "bpe"])
def test_the_figure_does_not_depend_on_the_batch_size(window: int, kind: str) -> None:
    tokenizer = character(everything()) if kind == "character" else bpe([*STORIES, SEPARATOR], 48)
    model = small_model(tokenizer.vocabulary_size, window)
    figures = [scored(model, tokenizer, STORIES * 9, rows) for rows in (1, 7, 64)]
    for other in figures[1:]:
        assert other.total_nats == pytest.approx(figures[0].total_nats, rel=TOLERANCE)
        np.testing.assert_allclose(other.nats, figures[0].nats, rtol=TOLERANCE)


def test_a_story_has_the_nats_of_its_tokens_and_its_separator() -> None:
    tokenizer = bpe([*STORIES, SEPARATOR], 48)
    model = small_model(tokenizer.vocabulary_size, 8)
    before = tokenizer.encode(SEPARATOR)
    ids: list[int] = []
    ends = []
    for story in STORIES:
        ids += [*tokenizer.encode(story).tolist(), *before.tolist()]
        ends.append(len(ids))
    each = plain_count(model, ids, before.tolist())
    expected = [sum(each[low:high]) for low, high in zip([0, *ends], ends, strict=False)]
    found = scored(model, tokenizer)
    np.testing.assert_allclose(found.nats, expected, rtol=1e-5)
    assert found.story_characters.tolist() == [len(story) + 2 for story in STORIES]
    assert found.tokens == len(ids)
    assert found.total_nats == pytest.approx(math.fsum(each), rel=1e-5)


def test_a_uniform_model_has_ln_v_per_token_under_both_tokenizers() -> None:
    characters = sum(len(story) + 2 for story in STORIES)
    for tokenizer in (character(everything()), bpe([*STORIES, SEPARATOR], 60)):
        size = tokenizer.vocabulary_size
        tokens = sum(len(tokenizer.encode(story)) + len(tokenizer.encode(SEPARATOR)) for story in STORIES)
        figures = scored(uniform_model(size, 8), tokenizer).to_json()
        assert figures["tokens"] == tokens
        assert figures["characters"] == characters
        assert figures["nats_per_character"] == pytest.approx(math.log(size) * tokens / characters, rel=1e-6)
        assert figures["nats_per_token"] == pytest.approx(math.log(size), rel=1e-6)


def test_bits_per_byte_of_text_beyond_ascii() -> None:
    stories = ["über ½ €", "日本 🙂"]
    tokenizer = character("".join(stories) + SEPARATOR)
    # ü, ½: two bytes; €, 日, 本: three; 🙂: four; the rest, separators included, one each
    characters, written = (8 + 2) + (4 + 2), (8 + 1 + 1 + 2 + 2) + (4 + 2 + 2 + 3 + 2)
    figures = scored(uniform_model(tokenizer.vocabulary_size, 8), tokenizer, stories).to_json()
    assert (figures["characters"], figures["bytes"]) == (characters, written)
    assert figures["stories"]["characters"] == [10, 6]
    assert figures["stories"]["bytes"] == [14, 13]
    bits = math.log2(tokenizer.vocabulary_size) * characters
    assert figures["bits_per_byte"] == pytest.approx(bits / written, rel=1e-6)


def test_the_figures_of_measures_json_agree_with_one_another() -> None:
    tokenizer = character(everything())
    figures = scored(small_model(tokenizer.vocabulary_size, 8), tokenizer).to_json()
    stories = figures["stories"]
    assert sum(stories["nats"]) == pytest.approx(figures["nats"], rel=1e-12)
    assert sum(stories["characters"]) == figures["characters"]
    assert sum(stories["bytes"]) == figures["bytes"]
    assert figures["nats_per_character"] == figures["nats"] / figures["characters"]
    assert figures["bits_per_byte"] == pytest.approx(figures["nats"] / math.log(2) / figures["bytes"])


def test_dropout_is_off_and_the_model_is_left_as_it_was() -> None:
    tokenizer = character(everything())
    plain, dropping = (small_model(tokenizer.vocabulary_size, 8, dropout=rate) for rate in (0.0, 0.5))
    assert dropping.training
    found = scored(dropping, tokenizer)
    assert found.nats.tolist() == scored(plain, tokenizer).nats.tolist()
    assert dropping.training, "the mode of training is given back"
    dropping.eval()
    scored(dropping, tokenizer)
    assert not dropping.training


def test_the_forward_pass_is_float32_and_the_sums_are_float64() -> None:
    tokenizer = character(everything())
    model = small_model(tokenizer.vocabulary_size, 8)
    seen = []
    model.blocks[0].register_forward_hook(lambda module, given, made: seen.append(made.dtype))
    found = scored(model, tokenizer)
    assert set(seen) == {torch.float32}
    assert found.nats.dtype == np.float64


def broken(text: Encoding, **changed: object) -> Encoding:
    return Encoding(**{**vars(text), **changed})


def test_tokens_that_do_not_hold_the_text_are_an_error() -> None:
    tokenizer = bpe([*STORIES, SEPARATOR], 48)
    model = small_model(tokenizer.vocabulary_size, 8)
    text = encode(tokenizer, STORIES, SEPARATOR)
    longer = int(np.argmax([len(token) for token in tokenizer.tokens()]))
    ids = text.ids.copy()
    ids[0] = longer
    characters = text.story_characters.copy()
    characters[[0, 1]] += (1, -1)
    for wrong in (
        broken(text, ids=ids),
        broken(text, ids=text.ids[:-1]),
        broken(text, characters=text.characters + 1),
        broken(text, story_characters=characters),
    ):
        with pytest.raises(ValueError, match="characters"):
            measure(model, tokenizer, wrong, tokenizer.encode(SEPARATOR))


def test_a_tokenizer_that_is_not_lossless_is_refused() -> None:
    tokenizer = as_lossy(character(everything()))
    with pytest.raises(ValueError, match="not lossless"):
        scored(small_model(tokenizer.vocabulary_size, 8), tokenizer)


def test_a_text_without_tokens_is_refused() -> None:
    tokenizer = character(everything())
    with pytest.raises(ValueError, match="empty"):
        scored(small_model(tokenizer.vocabulary_size, 8), tokenizer, [])
