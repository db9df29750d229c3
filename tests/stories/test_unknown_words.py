"""Words that stand in a text, against a set of all its words."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from onechange import kinds
from onechange.stories.unknown_words import WantedWords

texts = st.text("abAB'’é\u0301ßİ 1-🙂猫\n", max_size=30)


def folded_words(text: str) -> set[str]:
    return {text[start:end].casefold() for start, end in kinds.words(text)}


@given(texts, st.lists(texts, max_size=5))
@example("don't Don dont'", ["DON'T", "dont'"])
@example("ab b", ["ab'", "b"])
@example("straße STRASSE", ["Strasse"])
@example("a b c d e f g h i j k l m n o p", ["ba", "p", "'a", "o'"])
def test_the_missing_words_are_those_that_no_story_has(text, stories):
    """Stories are read in two parts; slots of the table are shared by many words, and letters decide."""
    wanted = WantedWords(folded_words(text))
    wanted.read(stories[:2])
    wanted.read(stories[2:])
    stood = set().union(*map(folded_words, stories))
    assert wanted.missing == folded_words(text) - stood


def test_words_that_come_to_one_slot_are_told_apart():
    """256 are wanted, in 1,024 slots, and 256 others come: many of these meet a wanted one on their way."""
    words = [f"{a}{b}{c}" for a in "abcdefgh" for b in "abcdefgh" for c in "abcdefgh"]
    wanted = WantedWords(words[::2])
    wanted.read([" ".join(words[1::2])])
    assert wanted.missing == set(words[::2])
    wanted.read([" ".join(words)])
    assert not wanted.missing


@pytest.mark.parametrize(
    "character", ["a", "É", "猫", "\u0301", "'", "’", "-", " ", "1", "🙂", "ª", "\u02bc"]
)
def test_characters_have_the_part_in_words_that_kinds_gives_them(character):
    text = f"a{character}a {character}a a{character} {character}"
    wanted = WantedWords(folded_words(text))
    assert wanted.missing
    wanted.read([text])
    assert not wanted.missing
