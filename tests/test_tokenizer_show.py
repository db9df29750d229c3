"""How a split is shown: nothing lost in the figures, every space visible in the colours."""

import json

import pytest

from onechange import tokenizer_show
from onechange.tokenizer.bpe import Bpe


@pytest.fixture
def tokenizer() -> Bpe:
    tokenizer = Bpe(vocabulary=12)
    tokenizer.learn(["the cat", "the the"], "\t\n aceht")
    return tokenizer


def test_the_figures(tokenizer: Bpe):
    shown = tokenizer_show.describe(tokenizer, "the  cat\n")
    assert json.loads(json.dumps(shown)) == {
        "text": "the  cat\n",
        "tokens": ["the", " ", " ", "cat", "\n"],
        "ids": [9, 2, 2, 11, 1],
        "token_count": 5,
        "characters": 9,
        "characters_per_token": 1.8,
    }


def test_an_empty_text_has_no_characters_per_token(tokenizer: Bpe):
    shown = tokenizer_show.describe(tokenizer, "")
    assert (shown["tokens"], shown["token_count"], shown["characters_per_token"]) == ([], 0, None)


def test_spaces_are_visible_and_neighbours_differ(tokenizer: Bpe):
    shown = tokenizer_show.describe(tokenizer, "the cat\n\tthe")
    drawn = tokenizer_show.coloured(shown)
    assert drawn.plain == "the·cat↵\n→\tthe"
    assert len(drawn.spans) == shown["token_count"]
    assert all(one.style != other.style for one, other in zip(drawn.spans, drawn.spans[1:], strict=False))
    assert tokenizer_show.marked(shown) == "the│·│cat│↵\n│→\t│the"
