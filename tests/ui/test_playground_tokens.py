"""What is said of a token, against plain sorting and softmax; tokens that are parts of characters."""

import math
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onechange import chances
from onechange.generate import generate
from onechange.measure import surprises
from onechange.places import placed
from onechange.sampling import Sampling
from onechange.tokenizer import Tokenizer
from onechange.tokenizer.byte import Byte
from onechange.ui.playground import reading, writing
from onechange.ui.playground.asked import Draw, Read, Write
from onechange.ui.playground.models import Held
from small_models import as_lossy, bpe, character, small_model

TEXT = "Zoë ate 🍓🍓 and naïve crêpes."


def held(tokenizer: Tokenizer, window: int = 16) -> Held:
    """A model of a few weights, as if it had been read from a run."""
    model = small_model(tokenizer.vocabulary_size, window)
    recipe = SimpleNamespace(corpus={"separator": "\n"})
    trained: Any = SimpleNamespace(model=model, tokenizer=tokenizer, recipe=recipe, step=5)
    return Held(trained, tokenizer.tokens(), 1)


def byte() -> Byte:
    found = Byte()
    found.learn([TEXT], TEXT)
    return found


few = st.sampled_from([-2.0, -0.5, 0.0, 0.25, 3.0])


@given(st.lists(few, min_size=1, max_size=12), st.integers(1, 14), st.data())
def test_ranks_and_the_likeliest_are_those_of_a_stable_sort(
    scores: list[float], number: int, data: Any
) -> None:
    token = data.draw(st.integers(0, len(scores) - 1))
    order = sorted(range(len(scores)), key=lambda one: -scores[one])
    found = np.array(scores, np.float32)
    assert chances.likeliest(found, number) == order[:number]
    assert chances.rank(found, token) == order.index(token) + 1
    weights = [math.exp(score) for score in scores]
    told = chances.told(found, token, [*map(str, range(len(scores)))], number)
    assert told["p"] == pytest.approx(weights[token] / sum(weights))
    assert told["nats"] == pytest.approx(-math.log(weights[token] / sum(weights)))
    assert [(other["id"], other["token"]) for other in told["alternatives"]] == [
        (one, str(one)) for one in order[:number]
    ]


def test_scores_far_apart_and_no_numbers_do_not_break_it() -> None:
    told = chances.told(np.array([3e4, -3e4, 0.0], np.float32), 1, ["a", "b", "c"], 2)
    assert (told["p"], told["rank"]) == (0.0, 3) and told["nats"] == pytest.approx(6e4)
    spoilt = chances.told(np.array([np.nan, 1.0], np.float32), 1, ["a", "b"], 2)
    assert math.isnan(spoilt["p"])


@pytest.mark.parametrize(
    "tokenizer", [byte(), character(TEXT), bpe([TEXT] * 4, 40)], ids=["byte", "character", "bpe"]
)
def test_tokens_stand_where_their_characters_do(tokenizer: Tokenizer) -> None:
    """Against the characters that a token's first and last byte belong to."""
    owners = [number for number, character in enumerate(TEXT) for _ in character.encode()]
    ids, at = tokenizer.encode(TEXT), 0
    for number, (start, end) in zip(ids, placed(tokenizer, ids), strict=True):
        length = len(tokenizer.token_bytes()[number])
        assert (start, end) == (owners[at], owners[at + length - 1] + 1)
        at += length
    assert at == len(owners)


def test_parts_of_characters_are_never_written_as_text() -> None:
    """What is certain never holds half a character, and put together it is what the tokens brought."""
    model = held(byte())
    for seed in range(6):
        asked = Write(
            "a", 0, prompt="Zoë", sampling=Draw(seed=seed, characters=30, top_k=256, temperature=1.5)
        )
        first, *tokens, last = writing.lines(model, asked)
        assert [(one["start"], one["end"]) for one in first["prompt"]] == [(0, 1), (1, 2), (2, 3), (2, 3)]
        text = "".join(line["text"] for line in tokens)
        assert text == "".join(line["own"] for line in tokens)[: len(text)]
        assert len(text) == last["characters"] and len(tokens) == last["tokens"]
        ids = bytes(line["id"] for line in tokens)
        assert ids.decode(errors="replace").startswith(text)


def test_a_story_ends_before_the_separator_unless_it_goes_on() -> None:
    """With a separator of one character most stories end soon; the tokens that end one are told too."""
    model = held(character(TEXT + "\n"))
    trained, ended = model.trained, []
    for seed in range(8):
        sampling = Sampling(seed=seed, characters=40, top_k=40, temperature=3.0)
        for go_on in (False, True):
            draw = Draw(seed=seed, characters=40, top_k=40, temperature=3.0)
            _, *tokens, last = writing.lines(model, Write("a", 0, prompt="Z", sampling=draw, go_on=go_on))
            expected = sampling if go_on else sampling.ending_at("\n")
            (story,) = generate(trained.model, trained.tokenizer, ["Z"], expected, before="\n")
            assert "".join(line["text"] for line in tokens) == story.text
            assert last["ended"] == ("story" if story.ended else "length")
            assert ([line["own"] for line in tokens][-1] == "\n" and tokens[-1]["text"] == "") == story.ended
            ended.append((go_on, story.ended))
    assert {(False, True), (True, False)} <= {*ended} and (True, True) not in ended


def test_the_surprise_of_a_character_is_that_of_its_bytes() -> None:
    model = held(byte())
    *_, found = reading.surprise(model, Read("a", 0, text=TEXT))
    assert found is not None
    ids, before = (model.ids("", text) for text in (TEXT, "\n"))
    expected = surprises(cast(Any, model.trained.model), ids, before)
    assert [token["nats"] for token in found["tokens"]] == pytest.approx(expected.tolist(), rel=2e-6)
    assert found["nats_per_character"] == pytest.approx(expected.sum() / len(TEXT), rel=2e-6)
    assert len(found["tokens"]) == len(TEXT.encode()) > len(TEXT)


def test_a_tokenizer_that_loses_text_has_no_surprise_per_character() -> None:
    with pytest.raises(ValueError, match="not lossless"):
        reading.surprise(held(as_lossy(character(TEXT + "\n"))), Read("a", 0, text="Zoë"))
