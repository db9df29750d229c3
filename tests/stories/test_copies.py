"""Copies against plain search by Python's `in`."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from onechange.stories import measured as measuring
from onechange.stories.copies import Copies, joined, passages
from onechange.stories.measured import measured
from onechange.stories.story import Story
from onechange.stories.suffix_automaton import SuffixAutomaton

letters = st.text("ab \n🙂é\0", max_size=30)


def longest_copies(text: str, training: str) -> list[int]:
    """For each end, tried from the longest on: none begins before the one that ends a character earlier."""
    found, start = [], 0
    for end in range(1, len(text) + 1):
        while text[start:end] not in training:
            start += 1
        found.append(end - start)
    return found


@given(st.lists(letters, max_size=5), st.lists(letters, max_size=4))
@example(["", "", ""], [""])
@example(["aab" * 9, "abaab"], ["aabaab", "baabaabaa"])
def test_the_longest_copy_that_ends_at_each_character(texts, read):
    """However the training text is cut up for reading: a copy may go on from one part to the next."""
    copies = Copies(texts)
    for part in read:
        copies.read(part)
    found = [lengths.tolist() for lengths in copies.longest()]
    assert found == [longest_copies(text, "".join(read)) for text in texts]


@given(st.lists(st.integers(0, 3), max_size=80), st.lists(st.integers(0, 3), max_size=200))
def test_no_copy_holds_a_break(text, other):
    automaton = SuffixAutomaton(np.array(text, dtype=np.int32))
    automaton.read(np.array(other, dtype=np.int32))
    written, read = ("".join(map(str, some)).replace("0", sign) for some, sign in ((text, "-"), (other, "+")))
    assert automaton.longest().tolist() == longest_copies(written, read)


@given(letters, letters, st.integers(1, 5))
def test_passages_are_those_that_no_longer_one_holds(text, training, least):
    found = passages(np.array(longest_copies(text, training), dtype=np.int32), least)
    places = [
        (a, b) for a in range(len(text)) for b in range(a + least, len(text) + 1) if text[a:b] in training
    ]
    assert found == [
        (a, b) for a, b in places if not any(c <= a and b <= d and (a, b) != (c, d) for c, d in places)
    ]
    inside = {at for a, b in places for at in range(a, b)}
    stretches = joined(found)
    assert inside == {at for a, b in stretches for at in range(a, b)}
    assert all(b < c for (_, b), (c, _) in pairwise(stretches))


@pytest.mark.parametrize("at_once", [1, 30, 1 << 20])
def test_training_text_is_read_once_and_in_parts(monkeypatch, at_once):
    monkeypatch.setattr(measuring, "AT_ONCE", at_once)
    training = ["Lucy had a red kite.", "It flew over the tree.", "Tom saw it."]
    story = Story("", "kite.\n\nIt flew over the tree.\n\nTom sang.", True)
    found = measured([story], iter(training), "\n\n", frozenset())
    assert found.measures["longest_copy"].counts == (len("kite.\n\nIt flew over the tree.\n\nTom sa"),)
    assert [story.text[start:end] for start, end in found.marks[0].unknown] == ["sang"]


def test_copies_in_real_stories(shared_stories):
    """Of a long text, each end of three stories that lie in it but for one changed letter."""
    training = shared_stories.read_text()[:200_000]
    texts = [f"{training[at : at + 150]}#{training[at + 151 : at + 300]}" for at in (0, 70_000, 140_000)]
    copies = Copies(texts)
    for at in range(0, len(training), 7_001):
        copies.read(training[at : at + 7_001])
    for text, lengths in zip(texts, copies.longest(), strict=True):
        assert lengths.tolist() == longest_copies(text, training)
