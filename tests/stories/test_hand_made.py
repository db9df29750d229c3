"""Every measure on stories made by hand, where the right value can be counted."""

import pytest

from onechange.stories.measured import measured
from onechange.stories.measures import MEASURES
from onechange.stories.story import Story

TRAINING = ["Tom had a red kite. The kite was in the big tree.", "Don't run, said Lucy."]
NAMES = frozenset({"Lucy", "Tom", "Max"})


def counted(measure: str, text: str, prompt: str = "", ended: bool = True) -> tuple[float, float]:
    """What ``measure`` counts of one story, and out of how many."""
    found = measured([Story(prompt, text, ended)], TRAINING, "\n\n", NAMES).measures[measure]
    return found.counts[0], found.of[0]


@pytest.mark.parametrize(
    ("text", "prompt", "ended", "expected"),
    [
        ("Tom had a blick.", "", True, (1, 4)),
        ("the KITE, the Kite", "", True, (0, 4)),  # whatever the case
        ("don't", "", True, (0, 1)),
        ("don", "", True, (1, 1)),  # part of a word is no word
        ("kit", "", True, (1, 1)),
        ("the kit", "", False, (0, 1)),  # cut: it may have become a kite
        ("the kit ", "", False, (1, 2)),
        ("te was", "the ki", True, (0, 2)),  # begun in the prompt, ended in the text
        (" was", "the blick", True, (0, 1)),  # the prompt's words are not the model's
        (" Blick, glurp", "A blick", True, (1, 2)),  # a word that the prompt taught
        ("treeDon't", "", True, (1, 1)),  # no word spans two stories
        ("", "the", True, (0, 0)),
        ("12 🙂!", "", True, (0, 0)),
        ("从前有一只猫。", "", True, (1, 1)),
    ],
)
def test_words_that_are_no_words(text, prompt, ended, expected):
    assert counted("unknown_words", text, prompt, ended) == expected


@pytest.mark.parametrize(
    ("text", "prompt", "expected"),
    [
        ("a b c d", "", (0, 1)),
        ("a b c d e A B, c d", "", (1, 6)),
        ("a a a a a a", "", (2, 3)),  # of three phrases the last two stood there before
        (" a b c d", "a b c d", (1, 4)),  # three phrases that begin in the prompt are new
        (" c d a b c d", "a b", (1, 5)),  # one that begins in the prompt is said again
        (" d e", "a b c d a b c", (1, 2)),
        ("", "a b c d a b c d", (0, 0)),
        ("a b c", "", (0, 0)),
    ],
)
def test_repeated_phrases(text, prompt, expected):
    assert counted("repeated_phrases", text, prompt) == expected


@pytest.mark.parametrize(
    ("text", "prompt", "words"),
    [
        ("it was very very very big", "", 3),
        ("the cat sat. The cat sat.", "", 6),
        ("the cat sat the cat sat the cat ran", "", 8),  # a third time, begun
        ("no no yes yes yes no", "", 3),
        ("the cat saw the dog", "", 0),
        (" sat the cat sat", "the cat", 4),  # what stands in the prompt is not the model's
        (" big", "very very", 0),
        ("", "", 0),
        ("猫 猫", "", 2),
    ],
)
def test_the_longest_loop(text, prompt, words):
    assert counted("longest_loop", text, prompt) == (words, 1)


@pytest.mark.parametrize(
    ("text", "prompt", "expected"),
    [
        ("He saw a dog and Lucy ran.", "Lucy sat.", (1, 1)),
        ("Lucy saw a dog and he ran.", "Lucy sat.", (0, 1)),
        ("He saw Lucy's dog. So it is Lucy's.", "Lucy sat.", (1, 1)),
        ("He saw a dog and Tom ran.", "Tom and Lucy. Lucy sat.", (0, 1)),  # who is named most
        ("He saw a dog and Tom ran.", "Tom and Lucy sat.", (1, 1)),  # of two the first
        ("a b c d Lucy e f", "Lucy sat.", (0, 1)),  # the last third of 7 words has 2
        ("a b c d e Lucy f", "Lucy sat.", (1, 1)),
        ("Then Tom ran and Tom sat.", "A dog sat.", (0, 0)),  # nobody is named
        ("Lucy ran.", "Lucy sat.", (0, 0)),  # two words have no third
        ("", "Lucy sat.", (0, 0)),
    ],
)
def test_the_hero_is_kept(text, prompt, expected):
    assert counted("hero_kept", text, prompt) == expected


@pytest.mark.parametrize(
    ("text", "prompt", "expected"),
    [
        ("She saw a dog and Tom ran.", "Lucy sat.", (1, 1)),
        ("She saw the dogs of Tom, Max, Tom", "Lucy sat.", (1, 1)),  # the last two words
        ("They all saw a dog, it was of Tom, Max, Tom", "Lucy sat.", (2, 1)),
        ("Tom saw a dog and Tom ran.", "Lucy sat.", (0, 1)),  # he was there before
        ("She saw a dog and Lucy ran.", "Lucy sat.", (0, 1)),
        ("", "Lucy sat.", (0, 0)),
    ],
)
def test_new_characters_late(text, prompt, expected):
    assert counted("new_names", text, prompt) == expected


@pytest.mark.parametrize(
    ("text", "prompt", "ended", "expected"),
    [
        ('"Hi," he said. "Go!"', "", True, (0, 1)),
        ('"Hi, he said.', "", True, (1, 1)),
        ('"Hi, he said.\n"Go!"', "", True, (1, 1)),  # it is not closed by the next paragraph's
        ("“Hi,” he said.", "", True, (0, 1)),
        ("“Hi, he said. “Go!”", "", True, (1, 1)),  # opened twice, closed once
        ('“Hi" he said. „Halt!“', "", True, (0, 1)),
        ("He said: “Hi", "", False, (0, 0)),  # cut: it might have been closed
        ('"A." He said: “Hi', "", False, (0, 1)),
        ('"A. He said.\nThey', "", False, (1, 1)),
        (' he said."', '"Hi,', True, (0, 1)),  # opened in the prompt
        (" he said.", '"Hi,', True, (1, 1)),
        ("They ran.", '"Hi, he said.\n', True, (0, 0)),  # the prompt's own fault
        ("", '"Hi', True, (1, 1)),
        ("It's the dogs' 'bone'.", "", True, (0, 0)),
        ("", "", True, (0, 0)),
    ],
)
def test_quotes_left_open(text, prompt, ended, expected):
    assert counted("quotes_left_open", text, prompt, ended) == expected


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("He ran.", 1), ("He ran!”", 1), ('He ran?")', 1), ("He ran… ", 1), ("他跑了。」", 1), ("他跑了。", 1),
        ("He ran", 0), ("He ran,", 0), ("He ran. And", 0), ("He ran\n", 0), ('"', 0), ("", 0),
    ],
)  # fmt: skip
def test_ends_of_sentences(text, ends):
    assert counted("sentence_ends", text) == (ends, 1)
    assert counted("sentence_ends", text, ended=False) == (0, 0)


def test_an_empty_text_ends_where_its_prompt_does():
    assert counted("sentence_ends", "", prompt="He ran.") == (1, 1)


@pytest.mark.parametrize("ended", [True, False])
def test_ends_and_lengths(ended):
    assert counted("ended", "a🙂", "b", ended) == (int(ended), 1)
    assert counted("length", "a🙂", "b", ended) == (2, 1)


@pytest.mark.parametrize(
    ("text", "longest", "copied"),
    [
        ("the big tree", 12, 0),
        ("The big tree", 11, 0),  # case counts here
        ("x kite was in the big tree.\n\nDon't run, said x", 44, 44),  # over a separator
        ("Lucy.\n\n", 7, 0),  # the last story is followed by one too
        ("Tom had a red kite. The kite was in the big tree! The kite was in", 48, 48),
        ("XYZ", 0, 0),
        ("", 0, 0),
    ],
)
def test_copies(text, longest, copied):
    assert counted("longest_copy", text) == (longest, 1)
    assert counted("copied", text) == (copied, len(text))


def test_copies_that_overlap_are_counted_once():
    """Two of 41 and 40 characters, and 10 are in both."""
    first, both, second = "abcdefghijklmnopqrstuvwxyz01234", "56789ABCDE", "FGHIJKLMNOPQRSTUVWXYZ.,;:!?-'("
    found = measured(
        [Story("", first + both + second, True)], [first + both, both + second], "\n\n", NAMES
    ).measures
    assert (found["longest_copy"].counts, found["copied"].counts) == ((41,), (71,))


def test_distinct_words_among_fifty():
    """Fifty words of which ten are different, then one new: 51 words have two stretches, of 10 and of 11."""
    ten = "a b c d e f g h i j"
    assert counted("distinct_words", " ".join([ten] * 5)) == (10, 1)
    assert counted("distinct_words", " ".join([ten] * 5) + " k") == ((10 + 11) / 2, 1)
    assert counted("distinct_words", " ".join([ten] * 4)) == (0, 0)
    assert counted("distinct_words", " ".join([ten] * 4), prompt=f"{ten} ") == (0, 0)


def test_stories_that_are_all_the_same_have_the_words_of_one():
    story = Story("", "a b c d e f g h i j " * 5, True)
    found = measured([story] * 30, TRAINING, "\n\n", NAMES).measures["distinct_words_between"]
    assert found.figure == pytest.approx(10) and set(found.of) == {1}


def test_stories_that_share_no_word_have_the_words_of_ten():
    stories = [Story("", " ".join(f"{a}{b}" for b in "abcde" * 10), True) for a in "abcdefghijk"]
    found = measured(stories, TRAINING, "\n\n", NAMES).measures["distinct_words_between"]
    assert found.figure == pytest.approx(50) and sum(found.of) == 11
    assert measured(stories[:10], TRAINING, "\n\n", NAMES).measures["distinct_words_between"].figure is None


def test_every_measure_is_said_in_a_sentence():
    for name, measure in MEASURES.items():
        assert name.isidentifier() and measure.definition.endswith(".") and measure.label
    assert MEASURES["ended"].written(0.0312) == "3.1%"
    assert [MEASURES["length"].written(value) for value in (1234.4, 38.12, 0.253)] == [
        "1,234",
        "38.1",
        "0.25",
    ]
