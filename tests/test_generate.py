"""Continuing prompts, against an explicit loop that runs the model on one text at a time, and against softmax."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import torch
from scipy import stats

from onechange import cached
from onechange.decoding import Decoder, Recomputing
from onechange.generate import Continuation, MakeDecoder, generate, write
from onechange.model import Model
from onechange.sampling import Sampling
from onechange.tokenizer import Tokenizer
from small_models import bpe, character, logits_after, small_model

TEXT = "The cat sat. A dog ran to the red sun, and Tom laughed!\n"
PROMPTS = ["The cat", "A", "Tom laughed and the dog ran to the red sun", "the red sun.\n"]


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return character(TEXT)


def written(
    model: Model,
    tokenizer: Tokenizer,
    prompts: list[str],
    *,
    tokens: int = 40,
    seed: int = 42,
    temperature: float = 0.7,
    top_k: int = 10,
    decoder: MakeDecoder = cached.decoder,
) -> list[Continuation]:
    sampling = Sampling(tokens=tokens, seed=seed, temperature=temperature, top_k=top_k)
    return generate(model, tokenizer, prompts, sampling, decoder=decoder)


def plain_greedy(model: Model, tokenizer: Tokenizer, prompt: str, tokens: int) -> str:
    """The likeliest token, again and again. A full window first gives up all but its last half."""
    window = model.sizes.window
    seen = tokenizer.encode(prompt).tolist()
    added: list[int] = []
    if len(seen) > window:
        seen = seen[len(seen) - max(1, window // 2) :]
    for _ in range(tokens):
        added.append(int(logits_after(model, seen).argmax()))
        if len(seen) == window:
            seen = (seen + added[-1:])[-max(1, window // 2) :]
        else:
            seen.append(added[-1])
    return tokenizer.decode(added)


@pytest.mark.parametrize("position", ["learned", "rope", "none"])
@pytest.mark.parametrize("window", [1, 2, 5, 8, 32])
def test_temperature_0_is_a_plain_greedy_loop(tokenizer: Tokenizer, window: int, position: str) -> None:
    model = small_model(tokenizer.vocabulary_size, window, position=position)
    for prompt in PROMPTS:  # some of them longer than the window
        (found,) = written(model, tokenizer, [prompt], temperature=0, tokens=2 * window + 3)
        assert found.text == plain_greedy(model, tokenizer, prompt, 2 * window + 3)


def test_a_full_window_is_read_anew_from_its_last_half(tokenizer: Tokenizer) -> None:
    """What came before the last half has no influence any more, and positions begin at 0 again."""
    model = small_model(tokenizer.vocabulary_size, 8)
    end = "the red sun"
    first, second = (
        written(model, tokenizer, [start + end], temperature=0)[0].text for start in ("The cat sat. ", "A ")
    )
    kept = written(model, tokenizer, [end[-4:]], temperature=0)[0].text
    assert first == second == kept


def test_a_prompt_that_just_fits_is_seen_whole(tokenizer: Tokenizer) -> None:
    model = small_model(tokenizer.vocabulary_size, 8)
    seen = []
    model.register_forward_pre_hook(lambda module, given: seen.append(given[0].tolist()))
    prompt = "The cat "
    written(model, tokenizer, [prompt], tokens=2, decoder=Recomputing)
    ids = tokenizer.encode(prompt).tolist()
    assert seen[0] == [ids]
    assert seen[1][0][:-1] == ids[-3:]


@pytest.mark.parametrize("window", [6, 64])
def test_a_prompt_gives_the_same_text_alone_and_beside_others(tokenizer: Tokenizer, window: int) -> None:
    model = small_model(tokenizer.vocabulary_size, window)
    alone = [written(model, tokenizer, [prompt])[0] for prompt in PROMPTS]
    assert written(model, tokenizer, PROMPTS) == alone
    assert written(model, tokenizer, PROMPTS[::-1]) == alone[::-1]
    assert len({sample.text for sample in alone}) == len(PROMPTS)


def test_the_seed_decides_and_more_tokens_go_on_from_fewer(tokenizer: Tokenizer) -> None:
    model = small_model(tokenizer.vocabulary_size, 16)
    (first,) = written(model, tokenizer, ["The cat"])
    assert written(model, tokenizer, ["The cat"]) == [first]
    assert written(model, tokenizer, ["The cat"], seed=43) != [first]
    (shorter,) = written(model, tokenizer, ["The cat"], tokens=11)
    assert first.text.startswith(shorter.text)
    assert (shorter.tokens, first.tokens) == (11, 40)


def test_the_same_prompt_twice_gives_the_same_text_twice(tokenizer: Tokenizer) -> None:
    model = small_model(tokenizer.vocabulary_size, 16)
    first, second = written(model, tokenizer, ["A dog", "A dog"])
    assert first == second


def test_top_k_1_is_greedy_whatever_the_temperature(tokenizer: Tokenizer) -> None:
    model = small_model(tokenizer.vocabulary_size, 16)
    assert written(model, tokenizer, PROMPTS, top_k=1, temperature=5.0) == written(
        model, tokenizer, PROMPTS, temperature=0
    )


def test_a_text_of_merged_tokens_decodes_whole() -> None:
    tokenizer = bpe([TEXT] * 3, 40)
    model = small_model(tokenizer.vocabulary_size, 8)
    found = written(model, tokenizer, ["The cat", "dog"], tokens=9)
    for sample in found:
        assert sample.tokens == 9
        assert len(sample.text) > 9
        assert sample.text == plain_text_of(model, tokenizer, sample.prompt, 9)


def plain_text_of(model: Model, tokenizer: Tokenizer, prompt: str, tokens: int) -> str:
    return written(model, tokenizer, [prompt], tokens=tokens)[0].text


def test_dropout_is_off_and_the_model_is_left_as_it_was(tokenizer: Tokenizer) -> None:
    plain, dropping = (small_model(tokenizer.vocabulary_size, 16, dropout=rate) for rate in (0.0, 0.5))
    assert written(dropping, tokenizer, PROMPTS) == written(plain, tokenizer, PROMPTS)
    assert dropping.training


def test_the_model_s_own_probabilities_decide(tokenizer: Tokenizer) -> None:
    """First tokens of many seeds against the softmax of the scores after the prompt."""
    model = small_model(tokenizer.vocabulary_size, 16, seed=3)
    scores = logits_after(model, tokenizer.encode("The cat").tolist()).numpy() / 4
    order = np.argsort(-scores)[:4]
    expected = np.exp(scores[order]) / np.exp(scores[order]).sum()
    texts = [
        written(model, tokenizer, ["The cat"], tokens=1, seed=seed, temperature=4, top_k=4)[0].text
        for seed in range(600)
    ]
    found = [texts.count(tokenizer.decode([number])) for number in order]
    assert sum(found) == len(texts)
    assert stats.chisquare(found, len(texts) * expected).pvalue > 0.001


# --- many texts, each with an end -----------------------------------------------------------------------------------


def generated(
    model: Model,
    tokenizer: Tokenizer,
    prompts: list[str],
    rows: int = 64,
    decoder: MakeDecoder = cached.decoder,
    **said: Any,
) -> list[Continuation]:
    before = said.pop("before", "")
    sampling = Sampling(**{"top_k": 10, **said})
    return generate(model, tokenizer, prompts, sampling, before=before, rows=rows, decoder=decoder)


def test_many_texts_through_few_rows_are_what_each_is_alone(tokenizer: Tokenizer) -> None:
    """Texts of unequal length: a row whose text has ended takes the next one, which must not feel it."""
    model = small_model(tokenizer.vocabulary_size, 8)
    said = {"samples": 12, "tokens": 30, "stop": ["t", " a"], "temperature": 1.5, "repetition_penalty": 1.2}
    alone = generated(model, tokenizer, PROMPTS, rows=1, **said)
    assert len({found.tokens for found in alone}) > 5, "of unequal length"
    assert [(found.prompt, found.number) for found in alone] == [
        (prompt, number) for prompt in PROMPTS for number in range(12)
    ]
    for rows in (3, 5, 64):
        assert generated(model, tokenizer, PROMPTS, rows=rows, **said) == alone


def test_a_row_is_filled_again_as_soon_as_its_text_has_ended(tokenizer: Tokenizer) -> None:
    steps = []

    class Counting(Decoder):
        def __init__(self, model: Model, rows: int) -> None:
            self.rows, self._inner = rows, Recomputing(model, rows)

        def begin(self, texts: Mapping[int, np.ndarray]) -> None:
            self._inner.begin(texts)

        def scores(self) -> torch.Tensor:
            steps.append(self.rows)
            return self._inner.scores()

        def append(self, tokens: np.ndarray) -> None:
            self._inner.append(tokens)

    model = small_model(tokenizer.vocabulary_size, 8)
    sampling = Sampling(samples=40, tokens=25, stop=["t"], temperature=2.0)
    found = generate(model, tokenizer, ["The cat"], sampling, rows=4, decoder=Counting)
    written = sum(one.tokens for one in found)
    assert set(steps) == {4}
    assert written / 4 <= len(steps) < written / 4 + 25, "rows wait only while the last texts are written"
    few = len(steps)
    assert generate(model, tokenizer, ["The cat"], sampling, rows=999, decoder=Counting) == found
    assert set(steps[few:]) == {40}


def test_the_first_samples_do_not_depend_on_how_many_there_are(tokenizer: Tokenizer) -> None:
    model = small_model(tokenizer.vocabulary_size, 16)
    (one,) = generated(model, tokenizer, ["The cat"], tokens=30)
    three = generated(model, tokenizer, ["The cat"], tokens=30, samples=3)
    five = generated(model, tokenizer, ["The cat", "A"], tokens=30, samples=5)
    assert three[0] == one
    assert five[:3] == three
    assert len({found.text for found in five}) == 10


@pytest.mark.parametrize("characters", [1, 7, 60])
def test_a_budget_in_characters_is_kept_to_the_character(characters: int) -> None:
    letters, merged = character(TEXT), bpe([TEXT] * 3, 40)
    for one in (letters, merged):
        model = small_model(one.vocabulary_size, 8)
        texts = generated(model, one, ["The cat", "dog"], characters=characters)
        assert [len(found.text) for found in texts] == [characters] * 2
        longer = generated(model, one, ["The cat", "dog"], characters=characters + 9)
        assert all(more.text.startswith(less.text) for less, more in zip(texts, longer, strict=True))


def test_a_text_ends_before_a_stop_string_and_says_so(tokenizer: Tokenizer) -> None:
    model = small_model(tokenizer.vocabulary_size, 16)
    (free,) = generated(model, tokenizer, ["The cat"], tokens=60)
    sign = free.text[20:22]
    (ended,) = generated(model, tokenizer, ["The cat"], tokens=60, stop=["never", sign])
    at = free.text.index(sign)
    assert (ended.text, ended.ended, ended.tokens) == (free.text[:at], True, at + len(sign))
    assert not free.ended


def test_what_stands_before_is_seen_and_not_shown(tokenizer: Tokenizer) -> None:
    model = small_model(tokenizer.vocabulary_size, 32)
    (found,) = generated(model, tokenizer, ["The cat"], tokens=20, temperature=0, before="\n")
    assert found.prompt == "The cat"
    assert found.text == plain_greedy(model, tokenizer, "\nThe cat", 20)
    assert found.text != plain_greedy(model, tokenizer, "The cat", 20)
    (begun,) = generated(model, tokenizer, [""], tokens=20, temperature=0, before="\n")
    assert begun.text == plain_greedy(model, tokenizer, "\n", 20)


def test_what_stands_before_is_encoded_by_itself() -> None:
    """As separators and stories are in training: no token spans both."""
    tokenizer = bpe(["The The The The"] * 9, 30)
    apart = [*tokenizer.encode("T"), *tokenizer.encode("he")]
    assert len(tokenizer.encode("The")) < len(apart)
    model = small_model(tokenizer.vocabulary_size, 32)
    seen = []
    model.register_forward_pre_hook(lambda module, given: seen.append(given[0].tolist()))
    generated(model, tokenizer, ["he"], tokens=1, before="T", decoder=Recomputing)
    assert seen == [[apart]]


def test_the_penalty_is_on_the_text_s_own_tokens(tokenizer: Tokenizer) -> None:
    """A plain loop with one text; what stands before the prompt is not the text's."""
    model = small_model(tokenizer.vocabulary_size, 64)
    own, seen = tokenizer.encode("The cat").tolist(), tokenizer.encode("\nThe cat").tolist()
    for _ in range(30):
        scores = logits_after(model, seen).float()
        for number in set(own):
            scores[number] = scores[number] * 1.3 if scores[number] < 0 else scores[number] / 1.3
        own.append(int(scores.argmax()))
        seen.append(own[-1])
    said = {"tokens": 30, "temperature": 0, "repetition_penalty": 1.3}
    (found, _) = generated(model, tokenizer, ["The cat", "A dog"], before="\n", **said)
    assert found.text == tokenizer.decode(own[-30:])
    assert found.text != plain_greedy(model, tokenizer, "\nThe cat", 30)


def test_pieces_put_together_are_the_texts(tokenizer: Tokenizer) -> None:
    model = small_model(tokenizer.vocabulary_size, 8)
    sampling = Sampling(samples=5, characters=25, stop=["the", "t."], temperature=1.5)
    pieces = [*write(model, tokenizer, PROMPTS, sampling, rows=3)]
    whole = generate(model, tokenizer, PROMPTS, sampling)
    for place, text in enumerate(whole):
        own = [piece for piece in pieces if piece.place == place]
        assert "".join(piece.text for piece in own) == text.text
        assert [piece.whole for piece in own] == [None] * (len(own) - 1) + [text]
        assert {(piece.prompt, piece.number) for piece in own} == {(text.prompt, text.number)}
        assert all(piece.text for piece in own[:-1])


def test_explained_every_token_is_a_piece_with_what_it_was_chosen_from() -> None:
    """Scores against a plain forward pass over the text so far; the penalty is in the shares and not in the scores."""
    tokenizer = bpe([TEXT] * 3, 40)
    model = small_model(tokenizer.vocabulary_size, 64)
    sampling = Sampling(characters=30, stop=["\n\n"], temperature=1.5, top_k=5, repetition_penalty=1.3)
    plain = [*write(model, tokenizer, ["The cat", "A dog"], sampling, rows=1)]
    found = [*write(model, tokenizer, ["The cat", "A dog"], sampling, rows=1, explained=True)]
    assert [piece.step for piece in plain] == [None] * len(plain)
    assert [piece._replace(step=None) for piece in found if piece.text or piece.whole] == plain
    for place, prompt in enumerate(("The cat", "A dog")):
        seen = tokenizer.encode(prompt).tolist()
        own = [piece for piece in found if piece.place == place]
        assert own[-1].whole is not None and own[-1].whole.tokens == len(own)
        for piece in own:
            assert piece.step is not None
            scores = logits_after(model, seen).numpy()
            np.testing.assert_allclose(piece.step.scores, scores, rtol=2e-4, atol=2e-4)
            for number in set(seen):
                scores[number] = scores[number] * 1.3 if scores[number] < 0 else scores[number] / 1.3
            allowed = np.argsort(-scores)[:5]
            weights = np.exp(scores[allowed] / 1.5)
            np.testing.assert_allclose(piece.step.shares[allowed], weights / weights.sum(), rtol=2e-3)
            assert np.count_nonzero(piece.step.shares) == 5
            assert piece.step.token in allowed
            seen.append(piece.step.token)


def test_a_piece_comes_before_the_next_token_is_asked_for(tokenizer: Tokenizer) -> None:
    model = small_model(tokenizer.vocabulary_size, 8)
    calls = []
    model.register_forward_pre_hook(lambda module, given: calls.append(1))
    model.train()
    pieces = write(model, tokenizer, ["The cat"], Sampling(tokens=9), decoder=Recomputing)
    assert (len(next(pieces).text), len(calls)) == (1, 1)
    assert (len(next(pieces).text), len(calls)) == (1, 2)
    pieces.close()  # type: ignore[attr-defined]
    assert model.training, "the model is given back as it was"


def test_a_mistake_in_a_prompt_is_found_before_anything_is_written(tokenizer: Tokenizer) -> None:
    model = small_model(tokenizer.vocabulary_size, 8)
    with pytest.raises(ValueError, match="prompt 'Zoë'"):
        write(model, tokenizer, ["The cat", "Zoë"], Sampling())
    with pytest.raises(ValueError, match="what stands before 'Ö'"):
        write(model, tokenizer, ["The cat"], Sampling(), before="Ö")


# --- what a person can get wrong ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"tokens": 0}, "tokens = 0"),
        ({"tokens": -5}, "tokens = -5"),
        ({"temperature": -0.1}, "temperature = -0.1"),
        ({"temperature": float("nan")}, "temperature = nan"),
        ({"temperature": float("inf")}, "temperature = inf"),
        ({"top_k": 0}, "top_k = 0"),
        ({"prompts": ["The cat", ""]}, 'prompt = ""'),
    ],
)
def test_a_setting_that_makes_no_sense_is_named(tokenizer: Tokenizer, wrong: dict, named: str) -> None:
    model = small_model(tokenizer.vocabulary_size, 8)
    with pytest.raises(ValueError, match=named):
        written(model, tokenizer, **{"prompts": ["The cat"], **wrong})


def test_unknown_characters_of_a_prompt_are_listed_with_their_places(tokenizer: Tokenizer) -> None:
    model = small_model(tokenizer.vocabulary_size, 8)
    with pytest.raises(ValueError) as error:
        written(model, tokenizer, ["The cat", "Zoë sat"])
    message = str(error.value)
    assert "'Zoë sat'" in message
    assert "'Z' (U+005A) at 0" in message
    assert "'ë' (U+00EB) at 2" in message
    assert "\n" not in message


def test_no_prompts_give_no_texts(tokenizer: Tokenizer) -> None:
    assert written(small_model(tokenizer.vocabulary_size, 8), tokenizer, []) == []


def test_any_number_of_tokens_may_be_asked_for(tokenizer: Tokenizer) -> None:
    """Nothing is laid out for all of them beforehand."""
    model = small_model(tokenizer.vocabulary_size, 8)
    calls = []

    def enough(*given: object) -> None:
        calls.append(given)
        if len(calls) == 5:
            raise KeyboardInterrupt

    model.register_forward_pre_hook(enough)
    with pytest.raises(KeyboardInterrupt):
        written(model, tokenizer, ["The cat"], tokens=10**15, decoder=Recomputing)
    assert model.training, "the model is given back as it was"
