"""Text as ids: each story and each separator on its own, and where every token begins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onechange.encoding import encode, id_type, narrow
from onechange.tokenizer.bpe import Bpe
from onechange.tokenizer.character import Character

SEPARATOR = "\n\n"
STORIES = ["the thé\ntheme", "a  hat\n", "", "\nthat hat", "é"]
ALPHABET = "".join(sorted(set("".join([*STORIES, SEPARATOR]))))


def learned(vocabulary: int = len(ALPHABET) + 9) -> Bpe:
    bpe = Bpe(vocabulary=vocabulary)
    bpe.learn([*STORIES, *[SEPARATOR] * 9], ALPHABET)
    return bpe


def test_stories_and_separators_are_encoded_apart():
    bpe = learned()
    found = encode(bpe, STORIES, SEPARATOR)
    expected: list[int] = []
    for story in STORIES:
        expected += [*bpe.encode(story), *bpe.encode(SEPARATOR)]
    assert found.ids.tolist() == expected
    assert found.ids.tolist() != bpe.encode("".join(s + SEPARATOR for s in STORIES)).tolist(), (
        "no test otherwise"
    )
    assert bpe.decode(found.ids) == "".join(story + SEPARATOR for story in STORIES)


def test_figures_by_hand():
    character = Character()
    character.learn([], ALPHABET)
    found = encode(character, STORIES, SEPARATOR)
    assert found.story_tokens.tolist() == found.story_characters.tolist() == [15, 9, 2, 11, 3]
    assert found.story_bytes.tolist() == [16, 9, 2, 11, 4]
    assert (found.characters, found.bytes, len(found.ids)) == (40, 42, 40)
    assert [found.first_token(place) for place in range(41)] == list(range(41))
    assert found.tokens.characters.tolist() == [1] * len(ALPHABET)
    assert found.ids.dtype == np.uint8


@given(stories=st.lists(st.text(alphabet=ALPHABET), max_size=5))
def test_every_token_begins_where_it_is_said_to(stories: list[str]):
    bpe = learned()
    found = encode(bpe, stories, SEPARATOR)
    text = "".join(story + SEPARATOR for story in stories)
    tokens = bpe.tokens()
    start = 0
    for at, number in enumerate(found.ids):
        assert text[start : start + len(tokens[number])] == tokens[number]
        assert found.first_token(start) == at
        start += len(tokens[number])
    assert start == found.characters == len(text) == found.story_characters.sum()
    assert found.bytes == len(text.encode()) == found.story_bytes.sum()
    assert found.story_tokens.sum() == len(found.ids)


def test_no_stories_are_no_tokens():
    found = encode(learned(), [], SEPARATOR)
    assert (len(found.ids), found.characters, found.bytes, len(found.landmarks)) == (0, 0, 0, 0)


class Swallowing:
    """Loses what it is told to."""

    def __init__(self, lost: str) -> None:
        self.whole, self.lost = learned(), lost

    def encode(self, text: str) -> np.ndarray:
        return self.whole.encode(text.replace(self.lost, ""))


@pytest.mark.parametrize(
    ("lost", "message"),
    [
        ("hat", "story 1: its tokens hold other characters"),
        ("\n\n", "the separator: its tokens hold other char"),
    ],
)
def test_characters_that_do_not_add_up_are_an_error(lost: str, message: str, monkeypatch: pytest.MonkeyPatch):
    bpe = learned()
    monkeypatch.setattr(bpe, "encode", Swallowing(lost).encode)
    with pytest.raises(ValueError, match=message):
        encode(bpe, STORIES, SEPARATOR)


def test_a_character_outside_the_alphabet_is_an_error():
    with pytest.raises(ValueError, match=r"outside .*'Z'"):
        encode(learned(), ["hat", "Zat"], SEPARATOR)


@pytest.mark.parametrize(
    ("vocabulary", "kind"),
    [(1, "u1"), (256, "u1"), (257, "u2"), (65_536, "u2"), (65_537, "u4"), (2**32, "u4")],
)
def test_ids_take_the_smallest_type_that_holds_the_last_of_them(vocabulary: int, kind: str):
    assert id_type(vocabulary) == np.dtype(kind)
    ids = np.array([0, vocabulary - 1])
    assert narrow(ids, vocabulary).tolist() == ids.tolist()


def test_a_vocabulary_beyond_32_bits_is_an_error():
    with pytest.raises(ValueError, match=r"4,294,967,297 tokens: ids of more than 32 bits"):
        id_type(2**32 + 1)


@pytest.mark.parametrize("wrong", [-1, 256, 2**40])
def test_an_id_outside_the_vocabulary_never_wraps_around(wrong: int):
    with pytest.raises(ValueError, match=f"the id {wrong:,} is none of the vocabulary's 0 to 255"):
        narrow(np.array([3, wrong, 7]), 256)
