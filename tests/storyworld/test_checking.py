"""How far a text agrees with the world, and what it contradicts: against a naive twin, and on altered stories."""

import re
from itertools import pairwise, product
from os.path import commonprefix

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onechange.corpus.storyworld import Storyworld
from onechange.storyworld.checking import Checked, check
from onechange.storyworld.grammar import Grammar
from onechange.storyworld.machine import Fork, advance, beginning, marked, upcoming
from onechange.storyworld.steps import Name
from onechange.storyworld.telling import Story

NAMES = {"Tom": "He", "Tim": "He", "Ann": "She"}
COLORS = ("red", "green", "reddish")
TOYS = ("kite", "ball")

TOY_WORLD = Grammar(
    {
        "words": "person:\n  Tom, Tim : he\n  Ann : she\ncolor:\n  red, green, reddish\ntoy:\n  kite, ball\n",
    },
    {"sentences": "cast:\n  hero = person\nopening:\n  {hero} had a~ {color} {toy}.[ ]\n"},
    {"plot": "story:\n  {hero.He} lost the {color} {toy}[. {hero} cried|, and nobody saw it].\n"},
)


def told(name: str, color: str, toy: str, pronoun: str, color2: str, toy2: str, end: str) -> list[str]:
    """The sentences of the toy world, true or not, each after its blank."""
    return [
        f"{name} had a {color} {toy}.",
        f" {pronoun} lost the {color2} {toy2}" + (f"." if end in NAMES else f"{end}."),
        *([f" {end} cried."] if end in NAMES else []),
    ]


def true_stories() -> list[str]:
    return [
        "".join(told(name, color, toy, NAMES[name], color, toy, end))
        for name, color, toy in product(NAMES, COLORS, TOYS)
        for end in (name, ", and nobody saw it")
    ]


TEXTS = st.tuples(
    st.sampled_from(sorted(NAMES)),
    st.sampled_from(COLORS),
    st.sampled_from(TOYS),
    st.sampled_from(("He", "She")),
    st.sampled_from(COLORS),
    st.sampled_from(TOYS),
    st.sampled_from([*NAMES, ", and nobody saw it"]),
)


@given(TEXTS, st.integers(0, 80), st.sampled_from(["", "#", " Tom", "d"]))
def test_the_longest_beginning_is_the_one_that_comparing_with_every_story_finds(
    words: tuple[str, ...], cut: int, tail: str
) -> None:
    text = "".join(told(*words))[:cut] + tail
    stories = true_stories()
    longest = max(len(commonprefix((text, story))) for story in stories)
    found = check(TOY_WORLD.start, text)
    assert (found.parsed, found.whole) == (longest, longest == len(text))
    assert check(TOY_WORLD.start, text, ended=True).whole == (text in stories)


@given(TEXTS, st.integers(0, 80), st.sampled_from(["", " Q"]))
def test_contradictions_are_those_that_comparing_word_by_word_finds(
    words: tuple[str, ...], cut: int, tail: str
) -> None:
    """A naive twin: a contradiction for each word that differs from the first, in sentences that are there in full."""
    name, color, toy, *_, end = words
    last = name if end in NAMES else end
    true = told(name, color, toy, NAMES[name], color, toy, last)
    text = "".join(told(*words))[:cut] + tail
    expected: list[tuple[str, str]] = []
    read = 0
    for right, said in zip(true, told(*words), strict=True):
        if text[read : read + len(said)] != said:
            other = told(name, color, toy, NAMES[name], color, toy, ", and nobody saw it")[1]
            agreement = max(len(commonprefix((text[read:], one))) for one in (right, other) if read or one is right)
            read += agreement
            break
        expected += [
            pair for pair in zip(re.findall(r"\w+", right), re.findall(r"\w+", said), strict=True) if len(set(pair)) > 1
        ]
        read += len(said)
    found = check(TOY_WORLD.start, text)
    assert [(one.was, one.said) for one in found.contradictions] == [
        (was.lower() if was in ("He", "She") else was, said.lower() if said in ("He", "She") else said)
        for was, said in expected
    ]
    assert found.read == read
