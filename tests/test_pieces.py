"""How text is cut: the compiled loops, the regular expression that says the same, and the patterns of others agree."""

import json
import re
import sys
from itertools import groupby, product
from typing import get_args
from unicodedata import category

import numpy as np
import pytest
import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tiktoken_ext import openai_public
from tokenizers import Regex, pre_tokenizers

import edge_texts
from onechange import pieces as module
from onechange.pieces import NAMED, Digits, Pieces, Space

EVERY = list(product(NAMED, get_args(Digits), get_args(Space)))


def by_the_tokenizers_library(pattern: str, text: str) -> list[str]:
    split = pre_tokenizers.Split(Regex(pattern), behavior="isolated")  # pyright: ignore
    return [piece for piece, _ in split.pre_tokenize_str(text)] if text else []


def kind(character: str) -> str:
    """What `classes` takes a character for, as Python knows it."""
    if character.isspace():
        return "space"
    if character.isdecimal():
        return "digit"
    return "letter" if category(character)[0] in "LN" else "other"


@pytest.mark.parametrize(("split", "digits", "space"), EVERY)
@settings(max_examples=50)
@given(text=edge_texts.texts)
def test_the_loops_and_the_expression_say_the_same(split: str, digits: Digits, space: Space, text: str):
    pieces = Pieces(split, digits, space)
    found = pieces.cut(text)
    assert "".join(found) == text
    assert found == regex.findall(pieces.regex, text)
    assert found == by_the_tokenizers_library(pieces.regex, text)


@pytest.mark.parametrize(("split", "digits", "space"), EVERY)
def test_they_agree_on_short_texts_of_every_class_in_every_order(split: str, digits: Digits, space: Space):
    pieces = Pieces(split, digits, space)
    for length in range(6):
        for some in product("a1. \n'", repeat=length):
            text = "".join(some)
            assert pieces.cut(text) == regex.findall(pieces.regex, text)


@given(text=st.one_of(edge_texts.texts, edge_texts.anything))
def test_gpt2_is_the_pattern_of_today_s_tiktoken(text: str):
    assert Pieces("gpt2").cut(text) == regex.findall(openai_public.r50k_pat_str, text)


def of_gpt4() -> str:
    """The pattern of `cl100k_base`, without its ranks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(openai_public, "load_tiktoken_bpe", lambda *_, **__: {})
        return openai_public.cl100k_base()["pat_str"]


@given(text=st.one_of(edge_texts.texts, edge_texts.anything))
def test_gpt4_is_the_pattern_of_today_s_tiktoken(text: str):
    assert Pieces("gpt4").cut(text) == regex.findall(of_gpt4(), text)


@given(text=edge_texts.texts)
def test_gpt2_is_the_pattern_that_its_authors_published(text: str):
    published = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
    assert Pieces("gpt2").cut(text) == regex.findall(published, text)


@given(text=st.one_of(edge_texts.texts, edge_texts.anything))
def test_classes_are_runs_of_one_kind(text: str):
    assert Pieces("classes").cut(text) == ["".join(run) for _, run in groupby(text, key=kind)]


@pytest.mark.parametrize(
    ("beside", "name"), [("a", "letter"), ("0", "digit"), (" ", "space"), (".", "other")]
)
def test_classes_take_every_character_for_what_python_does(beside: str, name: str):
    """Every character before one of the kind is one piece with it where it is of that kind itself."""
    known = [letter for letter in map(chr, range(sys.maxunicode + 1)) if category(letter) not in ("Cn", "Cs")]
    documents = [(letter + beside).encode() for letter in known]
    cuts = np.concatenate([ends for _, _, ends in Pieces("classes").cuts(documents)])
    ends_of_letters = np.cumsum([len(document) for document in documents]) - 1
    assert np.isin(ends_of_letters, cuts, invert=True).tolist() == [kind(letter) == name for letter in known]


@pytest.mark.parametrize(
    ("split", "digits", "space", "text", "cut"),
    [
        ("classes", "pattern", "pattern", "Zoë's 2nd_t\n–e\u0301, n!? ", "Zoë|'|s| |2|nd|_|t|\n|–|e|\u0301,| |n|!?| "),
        ("classes", "pattern", "joined", "a  b 12 !? \n", "a| | b| 12| !?| \n"),
        ("classes", "triples", "pattern", "1234567", "123|456|7"),
        ("classes", "single", "joined", "ab 12", "ab| 1|2"),
        ("gpt2", "pattern", "pattern", "I can't  go\n\nnow 1234!", "I| can|'t| | go|\n|\n|now| 1234|!"),
        ("gpt2", "pattern", "pattern", "IT'S it's 'S", "IT|'|S| it|'s| '|S"),
        ("gpt2", "triples", "pattern", "a 1234", "a| 123|4"),
        ("gpt2", "pattern", "apart", "can't  go 12", "can|'t|  |go| |12"),
        ("gpt4", "pattern", "pattern", "IT'S 'LL 1234!?\n\n  x (y", "IT|'S| '|LL| |123|4|!?\n\n| | x| (|y"),
        ("gpt4", "pattern", "pattern", "a\tb  \n \n  c", "a|\tb|  \n \n| | c"),
        ("gpt4", "runs", "pattern", " 1234", " |1234"),
        ("gpt4", "pattern", "apart", "a b (b\n c", "a| |b| |(b|\n |c"),
    ],
)  # fmt: skip
def test_pieces_by_hand(split: str, digits: Digits, space: Space, text: str, cut: str):
    assert "|".join(Pieces(split, digits, space).cut(text)) == cut


@given(
    pattern=st.sampled_from([r"\w+", r"[aeiou]+|\s", r"x", r"a*", r"\b", r"(?=a)", r".{3}", r"(?s).+?\s", r"(a)(b)?"]),
    text=edge_texts.texts,
)  # fmt: skip
@example(pattern=r"\w+", text="–ab, cd– ")
def test_a_pattern_of_one_s_own_gives_matches_and_what_lies_between(pattern: str, text: str):
    pieces = Pieces(pattern)
    expected, at = [], 0
    for match in regex.finditer(pattern, text):
        expected += [text[at : match.start()], match.group()]
        at = match.end()
    expected.append(text[at:])
    assert pieces.cut(text) == [piece for piece in expected if piece]
    assert pieces.regex == pattern


@pytest.mark.parametrize("split", NAMED)
@given(text=st.text())
def test_what_came_into_unicode_later_is_cut_as_the_tokenizers_library_does(split: str, text: str):
    pieces = Pieces(split)
    assert pieces.cut(text) == by_the_tokenizers_library(pieces.regex, text)


@pytest.mark.parametrize("pattern", [r"[a-z]+|[0-9]", r"a*", r"(?=a)", r"\s|(?=')"])
@given(text=edge_texts.texts)
def test_gaps_and_empty_matches_are_cut_the_same_by_the_tokenizers_library(pattern: str, text: str):
    assert Pieces(pattern).cut(text) == by_the_tokenizers_library(pattern, text)


@pytest.mark.parametrize("split", [*NAMED, r"\w+"])
@given(documents=st.lists(edge_texts.texts, max_size=6), at_once=st.integers(1, 5))
def test_no_piece_spans_two_documents_however_many_come_at_a_time(
    split: str, documents: list[str], at_once: int
):
    pieces = Pieces(split)
    found: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_AT_ONCE", at_once)
        for text, start, ends in pieces.cuts([document.encode() for document in documents]):
            parts = np.split(text, [start, *ends])[1:-1]
            found += [part.tobytes().decode() for part in parts]
    assert found == [piece for document in documents for piece in pieces.cut(document)]


def test_nothing_has_no_pieces():
    for split in (*NAMED, "a"):
        assert Pieces(split).cut("") == []
        assert [ends.tolist() for _, _, ends in Pieces(split).cuts([]) if len(ends)] == []


@pytest.mark.parametrize(
    ("settings", "wrong"),
    [
        (("gpt2", "pairs", "pattern"), "digits = 'pairs': must be one of 'pattern', 'runs', 'single', 'triples'"),
        (("gpt2", "pattern", "left"), "space = 'left': must be one of 'pattern', 'joined', 'apart'"),
        ((r"\w+", "single", "pattern"), r"digits = 'single': split = '\\w+' is a pattern of your own"),
        ((r"\w+", "pattern", "apart"), r"space = 'apart': split = '\\w+' is a pattern of your own"),
        (("(", "pattern", "pattern"), r"split = '(': must be one of 'classes', 'gpt2', 'gpt4' or a regular"),
    ],
)  # fmt: skip
def test_a_wrong_setting_is_named_with_its_value(settings: tuple, wrong: str):
    with pytest.raises(ValueError, match=re.escape(wrong)):
        Pieces(*settings)


def test_expressions_are_different_where_settings_are():
    found = {each: Pieces(*each).regex for each in EVERY}
    json.dumps(list(found.values()))
    for each, expression in found.items():
        texts = ["a 12345 !\n b", "12 'LL \n\n"]
        same = [other for other, one in found.items() if one == expression]
        for other in same:
            assert [Pieces(*other).cut(text) for text in texts] == [Pieces(*each).cut(text) for text in texts]
    assert len(set(found.values())) == 18
