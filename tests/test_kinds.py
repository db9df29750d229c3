"""Kinds of text, labelled by hand."""

import numpy as np
import pytest

from onechange import kinds
from onechange.kinds import KINDS

LETTERS = dict(zip("ifnspd", KINDS, strict=True))
"""One letter for each kind, as the labels below are written."""


def labels(story: str, names: frozenset[str] = frozenset()) -> str:
    found = kinds.of(story, names)
    assert found.dtype == np.uint8 and len(found) == len(story)
    return "".join("ifnspd"[number] for number in found)


@pytest.mark.parametrize(
    ("story", "expected"),
    [
        ("The cat sat.", "fiisfiisfiip"),
        ("Lucy's dog", "nnnniisfii"),
        ("don't 'tis’", "fiiiispfiip"),
        ("twenty-one 2nd b2b", "fiiiiipfiisdfisfdf"),
        ("½ 1,000 Ⅷ", "dsdpdddsd"),
        ("a\u00a0b\tc\n\nd\u2028e", "fsfsfssfsf"),
        ("日本 שלום", "fisfiii"),
        ("e\u0301te\u0301 \u0301", "fiiiisp"),
        ("🙂\ufe0f 👩\u200d👧", "ppsppp"),
        ("a_b – “c”…", "fpfspspfpp"),
        ("", ""),
    ],
)
def test_every_character_has_the_kind_that_a_reader_would_give_it(story: str, expected: str) -> None:
    assert labels(story, frozenset({"Lucy"})) == expected


def test_the_letters_of_the_labels_are_the_kinds() -> None:
    assert LETTERS == {
        "i": "inside words", "f": "first letters", "n": "names",
        "s": "spaces", "p": "punctuation", "d": "digits",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("stories", "expected"),
    [
        (["We saw Lucy. Lucy ran."], {"Lucy"}),
        (["Lucy ran.", "Lucy sat."], set()),  # never in mid-sentence: nothing tells her from "The"
        (["The dog. The cat and The hat, the end, the"], set()),
        (["Then I saw it, and I'm glad, and I STOP the USA"], set()),
        (['"Yes," Tom said, and Tom, Ben-Ann Smith ran'], {"Tom", "Ben", "Ann", "Smith"}),
        (["in Lucy's bed and O'Brien's hat"], {"Lucy", "O'Brien"}),
        (["a Rose and a rose"], set()),  # as often without its capital as with it
        (["a Rose, the Rose and a rose"], {"Rose"}),
        (["one\nTwo. “Three” (Four"], set()),  # a line, a sentence, a quotation, a bracket begin anew
        (["the E\u0301mile and the E\u0301mile"], {"E\u0301mile"}),
        (["le chat d'Anne"], set()),  # the word is small before the apostrophe
        (["der Hund, der Kater"], {"Hund", "Kater"}),  # as the language writes them
        (["a cat and Cat's cat, but a Dog's"], {"Dog"}),
    ],
)
def test_names_are_found_by_how_the_text_writes_them(stories: list[str], expected: set[str]) -> None:
    assert kinds.names(stories) == expected


def test_a_name_is_one_wherever_it_stands() -> None:
    stories = ["Lucy had a cat.", "The cat saw Lucy."]
    names = kinds.names(stories)
    assert labels(stories[0], names) == "nnnnsfiisfsfiip"
    assert labels(stories[1], names) == "fiisfiisfiisnnnnp"
