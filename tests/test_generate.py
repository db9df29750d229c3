"""Continuing prompts, against an explicit loop that runs the model on one text at a time, and against softmax."""

import numpy as np
import pytest
from scipy import stats

from onechange import picking
from onechange.generate import Continuation, generate
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
) -> list[Continuation]:
    sampling = Sampling(tokens=tokens, seed=seed, temperature=temperature, top_k=top_k)
    return generate(model, tokenizer, prompts, sampling)


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
    written(model, tokenizer, [prompt], tokens=2)
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


# --- one choice -----------------------------------------------------------------------------------------------------


def pick(logits: np.ndarray, draw: float, temperature: float, top_k: int) -> int:
    """The choice of one row."""
    sampling = Sampling(temperature=temperature, top_k=top_k)
    return int(picking.pick(logits[None], np.array([draw]), sampling)[0])


@pytest.mark.parametrize(("temperature", "top_k"), [(1.0, 8), (0.5, 8), (2.0, 5), (0.7, 3), (1.0, 10**9)])
def test_choices_are_as_frequent_as_softmax_says(temperature: float, top_k: int) -> None:
    logits = np.array([0.3, -1.2, 2.0, 0.0, 1.1, -0.4, 0.9, -2.0], dtype=np.float32)
    draws = np.random.default_rng(1).random(20_000)
    found = np.bincount([pick(logits, draw, temperature, top_k) for draw in draws], minlength=len(logits))
    allowed = np.argsort(logits)[::-1][:top_k]
    weights = np.exp(logits[allowed].astype(np.float64) / temperature)
    expected = len(draws) * weights / weights.sum()
    assert found.sum() == found[allowed].sum(), "only the top_k likeliest are ever chosen"
    assert stats.chisquare(found[allowed], expected).pvalue > 0.001


def test_the_choice_is_the_inverse_of_the_cumulative_distribution() -> None:
    logits = np.log(np.array([0.5, 0.25, 0.125, 0.125], dtype=np.float32))
    for draw, token in ((0.0, 0), (0.4999, 0), (0.5001, 1), (0.7499, 1), (0.7501, 2), (0.8751, 3)):
        assert pick(logits, draw, 1.0, 4) == token
    assert pick(logits, np.nextafter(1.0, 0.0), 1.0, 4) == 3


def test_ties_go_to_the_lower_id() -> None:
    logits = np.array([1.0, 3.0, 3.0, 2.0], dtype=np.float32)
    assert pick(logits, 0.99, 0, 4) == 1
    assert pick(logits, 0.99, 1.0, 1) == 1


@pytest.mark.parametrize("temperature", [1e-6, 1e-40, 1e-320])
def test_a_temperature_near_0_is_greedy(temperature: float) -> None:
    logits = np.array([-3e3, 40.0, 39.0, 7e3, -1e30], dtype=np.float32)
    for draw in (0.0, 0.3, 0.999):
        assert pick(logits, draw, temperature, 5) == 3


def test_a_huge_temperature_makes_all_alike() -> None:
    logits = np.array([-3.0, 40.0, 39.0, 7.0], dtype=np.float32)
    assert {pick(logits, draw, 1e300, 4) for draw in (0.1, 0.3, 0.6, 0.9)} == {0, 1, 2, 3}


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
        written(model, tokenizer, ["The cat"], tokens=10**15)
    assert model.training, "the model is given back as it was"
