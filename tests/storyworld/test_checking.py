"""How far a text agrees with a world and what it contradicts, in worlds that can be written down by hand."""

import re
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onechange.storyworld.checking import check
from onechange.storyworld.grammar import Grammar

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
        f" {pronoun} lost the {color2} {toy2}" + ("." if end in NAMES else f"{end}."),
        *([f" {end} cried."] if end in NAMES else []),
    ]


def true_stories() -> list[str]:
    return [
        "".join(told(name, color, toy, NAMES[name], color, toy, end))
        for name, color, toy in product(NAMES, COLORS, TOYS)
        for end in (name, ", and nobody saw it")
    ]


def agreement(one: str, other: str) -> int:
    """How many letters two texts begin with alike."""
    return next(
        (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )


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
    longest = max(agreement(text, story) for story in stories)
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
    nobody = told(name, color, toy, NAMES[name], color, toy, ", and nobody saw it")
    text = "".join(told(*words))[:cut] + tail
    expected: list[tuple[str, str]] = []
    read = 0
    for right, said in zip(true, told(*words), strict=True):
        if not text.startswith(said, read):
            ways = (right, nobody[1]) if read else true_stories()
            read += max(agreement(text[read:], way) for way in ways)
            break
        pairs = zip(re.findall(r"\w+", right), re.findall(r"\w+", said), strict=True)
        expected += [(was, word) for was, word in pairs if was != word]
        read += len(said)
    found = check(TOY_WORLD.start, text)
    assert [(one.was.capitalize(), one.said.capitalize()) for one in found.contradictions] == [
        (was.capitalize(), said.capitalize()) for was, said in expected
    ]
    assert found.read == read


WORDS = """
person:
  Tom, Ben : he
  Ann, Eve : she
creature:
  boy : he
  girl : she
trait:
  kind, brave
color:
  red, blue
place:
  kitchen ; spot = under the table, on a chair
  garden ; spot = under a bush
"""
SENTENCES = """
cast:
  hero = person ~ kind
  kind = creature ~ hero
  friend = person
opening:
  A {trait} {kind} named {hero} met {friend}.[ {hero.His} house was {color}.|][ ]
  A {trait} {kind} came. {hero.His} name was {hero}.[ ]
"""
PLOT = """
story:
  ?trait.kind {hero} shared.
  ?trait.brave {hero} dared.
  ?color.known {hero} loved the {color} house.
  ?!color.known {hero.He} found a {color} house. {hero} loved the {color} house.
  ?place.known They sat {place:spot} again.
  They went to the {place} and sat {place:spot}. The {place} was warm.
"""
SMALL_WORLD = Grammar({"words": WORDS}, {"sentences": SENTENCES}, {"plot": PLOT})


@pytest.mark.parametrize(
    ("text", "contradictions"),
    [
        ("A brave girl named Ann met Tom. Ann dared.", []),
        ("A brave girl named Ann met Tom. Tom dared.", [("hero", "Ann", "Tom")]),
        ("A brave girl named Ann met Tom. Ann shared.", [("trait", "brave", "kind")]),
        ("A brave girl named Ann met Ann. Ann dared.", [("friend", "not that of hero", "Ann")]),
        ("A brave girl named Ben met Tom. Ben dared.", [("hero", "one of kind's gender", "Ben")]),
        ("A brave girl came. Her name was Ann. Ann dared.", []),
        ("A brave girl came. His name was Ann. Ann dared.", [("hero", "her", "his")]),
        ("A brave girl came. Her name was Tom. Tom dared.", [("hero", "she", "Tom")]),
        (
            "A kind girl named Ben met Tom. Her house was red. She found a blue house. Ben loved the blue house.",
            [("hero", "one of kind's gender", "Ben"), ("color", "red", "told anew")],
        ),
        (
            "A kind girl named Ben met Tom. His house was red. He found a blue house. Ben loved the blue house.",
            [("hero", "one of kind's gender", "Ben"), ("color", "red", "told anew")],
        ),
        (
            "A kind girl came. Her name was Ben. She found a red house. Ben loved the red house.",
            [("hero", "she", "Ben")],
        ),
        ("A brave girl came. His name was Tom. Tom dared.", [("hero", "one of kind's gender", "his")]),
        ("A brave girl came. Her name was Ann. Eve dared.", [("hero", "Ann", "Eve")]),
        (
            "A kind boy named Ben met Eve. His house was red. Ben loved the blue house.",
            [("color", "red", "blue")],
        ),
        ("A kind boy named Ben met Eve. Ben loved the blue house.", [("color", "never told", "as if told")]),
        (
            "A kind boy named Ben met Eve. His house was red. He found a blue house. Ben loved the blue house.",
            [("color", "red", "told anew")],
        ),
        (
            "A kind boy named Ben met Eve. They went to the garden and sat on a chair. The garden was warm.",
            [("place:spot", "a spot of garden", "on a chair")],
        ),
        (
            "A kind boy named Ben met Eve. They went to the garden and sat under a bush. The kitchen was warm.",
            [("place", "garden", "kitchen")],
        ),
        (
            "A brave girl named Ben met Ben. Ann shared.",
            [
                ("hero", "one of kind's gender", "Ben"),
                ("friend", "not that of hero", "Ben"),
                ("trait", "brave", "kind"),
                ("hero", "Ben", "Ann"),
            ],
        ),
    ],
)
def test_every_kind_of_contradiction(text: str, contradictions: list[tuple[str, str, str]]) -> None:
    found = check(SMALL_WORLD.start, text, ended=True)
    assert found.read == len(text)
    assert found.whole == (not contradictions)
    assert [(one.variable, one.was, one.said) for one in found.contradictions] == contradictions
    for one in found.contradictions:
        assert text[one.position :].startswith(one.said) or one.said in (
            "kind",
            "his",
            "as if told",
            "told anew",
        )


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("A brave girl named Ann met Eve. Eve da", "A brave girl named Ann met Eve. "),
        ("A brave girl named Ann met Eve. Eve slept.", "A brave girl named Ann met Eve. "),
        ("A brave girl named Ann met Zoe. Ann dared.", "A brave girl named Ann met "),
        ("A brave girl named Annie met Tom.", "A brave girl named Ann"),
        (
            "A brave girl named Ann met Tom. They sat on a chair again.",
            "A brave girl named Ann met Tom. They ",
        ),
        ("Nothing of the kind.", ""),
        ("", ""),
    ],
)
def test_a_sentence_that_is_not_read_to_its_end_contradicts_nothing(text: str, read: str) -> None:
    found = check(SMALL_WORLD.start, text)
    assert (text[: found.read], found.contradictions) == (read, ())


def test_what_follows_on_a_story_is_not_read() -> None:
    story = "A brave girl named Ann met Tom. Ann dared."
    for ended in (True, False):
        found = check(SMALL_WORLD.start, story + " Ann dared.", ended)
        assert (found.parsed, found.whole, found.read) == (len(story), False, len(story))


def test_of_two_readings_with_equally_many_contradictions_the_one_is_taken_that_goes_farther() -> None:
    """They meet in the last sentence, which breaks off: the contradiction must not be the one that stands in it."""
    plot = "story:\n  ?hero.he It rained. <end>\n  It rained. [?hero.he |?hero.he ]<end>\n"
    plot += "end:\n  They sang [a|one] song.\n"
    rain = Grammar(
        {"words": WORDS}, {"s": "cast:\n  hero = person\nopening:\n  {hero} came.[ ]\n"}, {"plot": plot}
    )
    found = check(rain.start, "Ann came. It rained. They sang a tune.")
    assert found.read == len("Ann came. It rained. They sang a ")
    assert [(one.variable, one.was, one.said) for one in found.contradictions] == [("hero", "Ann", "he")]
    assert found.contradictions[0].position == len("Ann came. ")
