"""A world so small that every story and its probability can be written down by hand."""

import math
from collections import Counter
from fractions import Fraction

import pytest

from onechange.seed import stream
from onechange.storyworld.grammar import Grammar
from onechange.storyworld.machine import Fork, Point, advance, beginning
from onechange.storyworld.reading import log_probability, read
from onechange.storyworld.telling import tell

WORDS = {"words": "person:\n  2*Tom : he\n  Ann : she\n  Amy : she\nfruit:\n  apple, pear\n"}
SENTENCES = {
    "sentences": "cast:\n  hero = person\n  friend = person\nopening:\n  {hero} met {friend}[. | and ]\n"
}
PLOTS = {
    "plots": (
        "story:\n  3*{friend.His} a~ {fruit}.\n  ?hero.he {hero.He} ran.\n  [a~ <fruit>|{hero}] fell.\n"
    )
}


def by_hand() -> dict[str, Fraction]:
    """The whole language: names by weight and without replacement, then the plot's alternatives, one guarded."""
    weights = {"Tom": 2, "Ann": 1, "Amy": 1}
    pronoun = {"Tom": ("He", "His"), "Ann": ("She", "Her"), "Amy": ("She", "Her")}
    found: dict[str, Fraction] = {}
    for hero, first in weights.items():
        for friend, second in weights.items():
            if friend == hero:
                continue
            for joint in (". ", " and "):
                start = f"{hero} met {friend}{joint}"
                p = Fraction(first, 4) * Fraction(second, 4 - first) * Fraction(1, 2)
                total = 5 if hero == "Tom" else 4
                for fruit in ("an apple", "a pear"):
                    found[f"{start}{pronoun[friend][1]} {fruit}."] = p * Fraction(3, total) * Fraction(1, 2)
                    found[f"{start}{fruit} fell."] = p * Fraction(1, total) * Fraction(1, 4)
                found[f"{start}{hero} fell."] = p * Fraction(1, total) * Fraction(1, 2)
                if hero == "Tom":
                    found[f"{start}{pronoun[hero][0]} ran."] = p * Fraction(1, total)
    return found


@pytest.fixture(scope="module")
def grammar() -> Grammar:
    return Grammar(WORDS, SENTENCES, PLOTS)


def test_the_hand_count_is_a_distribution():
    assert sum(by_hand().values()) == 1


def test_every_text_has_exactly_the_probability_counted_by_hand(grammar: Grammar):
    for text, probability in by_hand().items():
        assert log_probability(read(grammar.start, text)) == pytest.approx(
            math.log(probability), abs=1e-12
        ), text


def test_the_machine_tells_no_other_text(grammar: Grammar):
    told: dict[str, float] = {}
    open_points: list[tuple[Point, str, float]] = [(beginning(grammar.start), "", 1.0)]
    while open_points:
        point, text, probability = open_points.pop()
        step = advance(point)
        if step is None:
            told[text] = told.get(text, 0.0) + probability
        elif isinstance(step, Fork):
            for number in step.numbers:
                shown, following = step.take(number)
                term = probability * step.menu.weights[number] / step.total
                open_points.append((following, text + shown, term))
        else:
            open_points.append((step.point, text + step.text, probability))
    assert told == pytest.approx({text: float(p) for text, p in by_hand().items()})


def test_telling_draws_texts_as_often_as_their_probability_says(grammar: Grammar):
    draws = 20_000
    uniform = stream(0, "corpus", "toy").random
    counts = Counter(tell(grammar.start, uniform).text for _ in range(draws))
    expected = {text: float(p) * draws for text, p in by_hand().items()}
    assert counts.keys() <= expected.keys()
    chi_squared = sum((counts[text] - mean) ** 2 / mean for text, mean in expected.items())
    freedom = len(expected) - 1
    assert abs(chi_squared - freedom) < 4 * math.sqrt(2 * freedom)


def test_a_text_that_can_be_told_in_two_ways_has_two_readings_and_their_joint_probability():
    twice = Grammar({}, {"s": "opening:\n  one\n"}, {"p": "story:\n  [ and| and]\n  .\n"})
    readings = read(twice.start, "one and")
    assert len(readings) == 2
    assert log_probability(readings) == pytest.approx(math.log(1 / 2))


def test_no_reading_no_probability(grammar: Grammar):
    for text in ("", "Tom met Tom. Tom fell.", "Ann met Amy. She ran.", "Tom met Ann. a apple fell.", "Tom"):
        assert read(grammar.start, text) == []
    assert log_probability([]) is None
