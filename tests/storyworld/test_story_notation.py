"""The notation of the story files, and what it says of slips."""

import pytest

from onechange.storyworld.files import blocks
from onechange.storyworld.grammar import Grammar
from onechange.storyworld.notation import Alternative, Call, Guard, Literal, Mark, Pick, Slot, alternative
from onechange.storyworld.words import article, entries, plural


def test_a_line_becomes_symbols():
    read = alternative("3*?pet.known ^a~ {pet:noise2.plural} [2*x|]<go hero> // {Hero.His}", "f:1")
    assert (read.weight, read.guard) == (3, Guard("pet", "known", True))
    assert read.symbols == (
        Mark.CAPITAL,
        Mark.ARTICLE,
        Slot("pet:noise2", "plural", "f:1:5"),
        Literal(" ", "f:1:24"),
        Pick((Alternative(2, None, (Literal("x", "f:1:25"),)), Alternative(1, None, ()))),
        Call("go", ("hero",)),
        Literal("\n", "f:1:40"),
        Mark.CAPITAL,
        Slot("hero", "his", "f:1:44"),
    )


@pytest.mark.parametrize("line", ["[a|b", "a]", "{he ro}", "a|b", "{}", "~"])
def test_a_slip_in_the_notation_names_its_place(line: str):
    with pytest.raises(ValueError, match="plots/x:7"):
        alternative(line, "plots/x:7")


def test_blocks_join_lines_and_skip_comments():
    text = "# c\na:\n  one\n      and more\n  # c\n  two\n\nb(x):\n  three\n"
    assert blocks("f", text) == [
        ("a", [("f:3", "one and more"), ("f:6", "two")]),
        ("b(x)", [("f:9", "three")]),
    ]


@pytest.mark.parametrize("text", ["a\n", "  one\n"])
def test_a_block_without_a_header_is_an_error(text: str):
    with pytest.raises(ValueError, match="f:1"):
        blocks("f", text)


@pytest.mark.parametrize("following", ["apple", "hour", "honest boy", "umbrella", "unusual cup", "old ox"])
def test_the_article_before_a_vowel_sound(following: str):
    assert article(following) == "an"


@pytest.mark.parametrize("following", ["pear", "horse", "useful cup", "unicorn", "one-eyed ox", "ukulele"])
def test_the_article_before_another_sound(following: str):
    assert article(following) == "a"


def test_regular_plurals():
    nouns = ["cat", "fox", "bush", "pony", "monkey", "glass"]
    assert [plural(noun) for noun in nouns] == ["cats", "foxes", "bushes", "ponies", "monkeys", "glasses"]


def test_entries_of_a_pool():
    red, blue = entries("3*red, sky blue", "f:1")
    assert (red.text, red.weight, blue.text, blue.tags) == ("red", 3, "sky blue", {"sky-blue"})
    (kite,) = entries("kite : toy high ; part = tail, string ; plural = kites", "f:1")
    assert kite.tags == {"kite", "toy", "high"}
    assert kite.details == {"part": ("tail", "string"), "plural": ("kites",)}
    assert kite.form("plural") == "kites"
    with pytest.raises(LookupError, match="2 values"):
        kite.form("part")
    with pytest.raises(LookupError, match="no form 'his'"):
        kite.form("his")


def grammar(plot: str, words: str = "pool:\n  a, b\n") -> Grammar:
    return Grammar({"words": words}, {"sentences": "opening:\n  x\n"}, {"plot": plot})


@pytest.mark.parametrize(
    ("plot", "message"),
    [
        ("story:\n  <nothing>\n", "no rule and no pool 'nothing'"),
        ("story:\n  {nobody}\n", "needs the pool 'nobody'"),
        ("story:\n  <two a>\ntwo(x, y):\n  {x}\n", "takes"),
        ("story:\n  y\npool:\n  z\n", "name of a pool"),
        ("cast:\n  v = pool pool\nstory:\n  {v}\n", "stands twice"),
    ],
)
def test_a_slip_in_the_rules_is_an_error(plot: str, message: str):
    with pytest.raises((ValueError, LookupError), match=message):
        grammar(plot)
