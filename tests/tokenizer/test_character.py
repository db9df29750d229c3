"""`character`: the id of a character is its rank in code-point order."""

import numpy as np
import pytest

from onechange.tokenizer.character import Character

turns: dict = {}


def learned(alphabet: str) -> Character:
    tokenizer = Character()
    tokenizer.learn([], alphabet)
    return tokenizer


def test_ids_are_ranks_in_code_point_order():
    tokenizer = learned("\n abé€😀")
    assert tokenizer.encode("b a\n😀€é").tolist() == [3, 1, 2, 0, 6, 5, 4]
    assert tokenizer.decode([6, 0, 3]) == "😀\nb"
    assert tokenizer.vocabulary_size == 7


@pytest.mark.parametrize("alphabet", ["", "ba", "aab", "a\ud800"])
def test_an_alphabet_is_distinct_characters_in_order(alphabet: str):
    with pytest.raises(ValueError, match="alphabet"):
        learned(alphabet)


def test_an_error_names_each_character_outside_and_its_places():
    with pytest.raises(ValueError) as raised:
        learned("abc").encode("ax\tbxxxxxc\u2028")
    message = str(raised.value)
    assert message.startswith("3 characters outside")
    assert "'x' (U+0078) at 1, 4, 5, 6, 7, … (6 times)" in message
    assert r"'\t' (U+0009) at 2," in message
    assert r"'\u2028' (U+2028) at 10" in message
    assert "\n" not in message


def test_an_error_about_many_characters_stays_short():
    with pytest.raises(ValueError, match=r"^26 characters .* and 21 more; "):
        learned("A").encode("abcdefghijklmnopqrstuvwxyz")


def test_a_character_beyond_the_last_of_the_alphabet_is_outside():
    with pytest.raises(ValueError, match=r"^1 character outside"):
        learned("ab").encode("abz")


def test_the_shared_stories_have_74_characters(cut_stories):
    tokenizer = learned(cut_stories.alphabet)
    assert tokenizer.vocabulary_size == 74
    ids = [tokenizer.encode(part) for story in cut_stories.validation for part in (story, "\n\n")]
    assert sum(map(len, ids)) == 160_915
    assert tokenizer.decode(np.concatenate(ids)) == "".join(
        story + "\n\n" for story in cut_stories.validation
    )
