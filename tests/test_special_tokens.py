"""Special tokens are found first, the longest of those that begin at the same place."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onechange.special_tokens import SpecialTokens

SPECIAL = ["ab", "abab", "aba", "b|a", "|a", "||", "bb|", "aa"]
special = st.lists(st.sampled_from(SPECIAL), unique=True, max_size=5)
texts = st.lists(st.sampled_from([*SPECIAL, "a", "b", "|", "c"]), max_size=12).map("".join)


def plainly(text: str, special: list[str]) -> list[tuple[int, int]]:
    """Where special tokens begin and end: at each place the longest, then on from its end."""
    found, at = [], 0
    while at < len(text):
        here = [token for token in special if text.startswith(token, at)]
        length = max(map(len, here), default=0)
        if length:
            found.append((at, at + length))
        at += length or 1
    return found


@given(special, texts)
def test_parts_are_what_stands_between_and_the_tokens(special: list[str], text: str):
    parts = SpecialTokens(special).parts(text)
    places = [0]
    for part in parts:
        places.append(places[-1] + len(part))
    assert "".join(parts) == text
    assert len(parts) % 2 == 1
    assert list(pairwise(places))[1::2] == plainly(text, special)


@given(special, texts, st.integers(-3, 30))
def test_the_last_end_before_a_limit(special: list[str], text: str, limit: int):
    expected = max((end for start, end in plainly(text, special) if start < limit), default=0)
    assert SpecialTokens(special).last_end(text, limit) == expected


def test_signs_of_expressions_are_signs():
    special = SpecialTokens([".*", "(a|b)", "\\d", "[x]"])
    assert special.parts("ab.*12(a|b)") == ["ab", ".*", "12", "(a|b)", ""]


def test_the_longest_is_known():
    assert SpecialTokens([]).longest == 0
    assert SpecialTokens(["ab", "<|end|>"]).longest == 7


@pytest.mark.parametrize(
    ("texts", "wrong"),
    [
        ([""], "special_tokens: '': must have at least two bytes"),
        (["ab", "x"], "special_tokens: 'x': must have at least two bytes"),
        (["ab", "cd", "ab"], "special_tokens: 'ab' stands there more than once"),
        (["a\ud800"], "lone surrogates"),
    ],
)
def test_a_text_that_cannot_be_one_is_named(texts: list[str], wrong: str):
    with pytest.raises(ValueError, match=re.escape(wrong)):
        SpecialTokens(texts)


def test_a_character_of_two_bytes_can_be_one():
    assert SpecialTokens(["é"]).parts("aéb") == ["a", "é", "b"]
