"""The word for tokenizers: what it may be, what each form stands for, and what is said of those that are none."""

from pathlib import Path

import pytest

from onechange import tokenizer_file, tokenizer_word
from onechange.tokenizer.character import Character

DEFAULTS = {"vocabulary": 4096, "learn_from": "training"}


def settings(word: str) -> list[dict[str, object]]:
    """What was given beside the defaults of the first settings of `bpe`, for every tokenizer of ``word``."""
    found = [one.resolved or {} for one in tokenizer_word.parse(word)]
    return [{key: value for key, value in each.items() if DEFAULTS.get(key) != value} for each in found]


def test_a_member_stands_for_its_defaults():
    (found,) = tokenizer_word.parse("bpe")
    assert (found.label, found.path) == ("bpe", None)
    assert found.resolved is not None
    assert found.resolved.items() >= {"name": "bpe", **DEFAULTS}.items()


def test_settings_have_the_types_that_the_member_says():
    (found,) = tokenizer_word.parse("bpe:vocabulary=512,learn_from=all")
    assert found.label == "bpe:vocabulary=512,learn_from=all"
    assert found.resolved is not None
    assert found.resolved.items() >= {"vocabulary": 512, "learn_from": "all"}.items()


def test_further_values_are_further_tokenizers_in_every_combination():
    found = tokenizer_word.parse("bpe:vocabulary=256,512,learn_from=all,training")
    pairs = [(one.resolved or {})["vocabulary"] for one in found], [one.label[-8:] for one in found]
    assert pairs == ([256, 256, 512, 512], ["from=all", "training"] * 2)


def test_a_value_in_quotes_may_hold_commas_and_quotes():
    with pytest.raises(ValueError, match=r"""'a,"b"'"""):
        tokenizer_word.parse('bpe:learn_from="a,""b"""')


def test_a_label_can_be_given_again():
    for word in ("bpe", "bpe:vocabulary=300", "bpe:learn_from=all,vocabulary=300"):
        assert [one.label for one in tokenizer_word.parse(word)] == [word]


def test_a_file_and_the_folder_that_holds_it_are_read(tmp_path: Path):
    tokenizer = Character()
    tokenizer.learn([], "abc")
    tokenizer_file.save(tokenizer, {"name": "character"}, tmp_path / "tokenizer.json")
    for word in (str(tmp_path), str(tmp_path / "tokenizer.json")):
        found = tokenizer_word.one(word)
        read = found.tokenizer(lambda: pytest.fail("no corpus is needed"))
        assert (found.label, read.tokens()) == (word, ["a", "b", "c"])


def test_a_folder_without_a_tokenizer_is_told_from_a_word_that_is_nothing(tmp_path: Path):
    with pytest.raises(LookupError, match="is a folder without a tokenizer"):
        tokenizer_word.parse(str(tmp_path))
    with pytest.raises(
        LookupError, match=r"'nothing' is neither a run's folder nor a tokenizer; there is bpe"
    ):
        tokenizer_word.parse("nothing")


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("bpe:", "settings after the colon are missing"),
        ("bpe:512", "'512' is no SETTING=VALUE"),
        ("bpe:,", "',' is no SETTING=VALUE"),
        ("bpe:vocabulary=", "tokenizer.vocabulary = '': must be a whole number"),
        ("bpe:vocabulary=512,", "tokenizer.vocabulary = '': must be a whole number"),
        ("bpe:vocabulary=many", "tokenizer.vocabulary = 'many': must be a whole number"),
        ("bpe:vocabulary=5.5", "tokenizer.vocabulary = '5.5': must be a whole number"),
        ('bpe:vocabulary="512', "is no SETTING=VALUE; a value with commas stands in double quotes"),
        ('bpe:vocabulary="512"8', "is no SETTING=VALUE"),
        ("bpe:size=512", "no setting 'size'; its settings are: vocabulary"),
        ("character:size=512", "no setting 'size'; its settings are: none"),
    ],
)
def test_what_is_wrong_is_said(word: str, said: str):
    with pytest.raises((ValueError, LookupError)) as caught:
        tokenizer_word.parse(word)
    assert said in caught.value.args[0]


def test_one_is_one():
    with pytest.raises(ValueError, match="stands for 2 tokenizers"):
        tokenizer_word.one("bpe:vocabulary=256,512")
