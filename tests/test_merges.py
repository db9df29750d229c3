"""The incremental learner and the merging of one piece, against plain versions that do all anew."""

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer as Peer
from tokenizers import models, trainers

from onechange import merges

Merges = list[tuple[str, str]]


def merged_plainly(tokens: list[str], pair: tuple[str, str]) -> list[str]:
    done: list[str] = []
    at = 0
    while at < len(tokens):
        together = tuple(tokens[at : at + 2]) == pair
        done.append("".join(pair) if together else tokens[at])
        at += 2 if together else 1
    return done


def pairs_plainly(pieces: list[tuple[list[str], int]]) -> Counter[tuple[str, str]]:
    counts: Counter[tuple[str, str]] = Counter()
    for tokens, times in pieces:
        for at in range(len(tokens) - 1):
            counts[tokens[at], tokens[at + 1]] += times
    return counts


def merges_plainly(pieces: dict[str, int], number: int) -> Merges:
    texts = [(list(piece), times) for piece, times in pieces.items()]
    found: Merges = []
    while len(found) < number and (counts := pairs_plainly(texts)):
        best = max(counts, key=lambda pair: (counts[pair], pair))
        found.append(best)
        texts = [(merged_plainly(tokens, best), times) for tokens, times in texts]
    return found


def learned(pieces: dict[str, int], number: int = 10_000) -> Merges:
    return merges.learn(pieces, "".join(sorted(set("".join(pieces)))), number)


def applied(text: str, pairs: Merges) -> list[str]:
    """`merges.apply` with tokens in place of ids."""
    tokens = sorted(set(text).union(*map(set, ("".join(pair) for pair in pairs))))
    made: dict[tuple[int, int], int] = {}
    for left, right in pairs:
        made[tokens.index(left), tokens.index(right)] = len(tokens)
        tokens.append(left + right)
    return [tokens[number] for number in merges.apply([tokens.index(character) for character in text], made)]


def test_the_example_of_the_paper():
    """Algorithm 1 of Sennrich et al., with E for its end of a word, and with the ties of this project:
    es, st and tE are counted 9 times each, lo and ow 7 times each."""
    pieces = {"lowE": 5, "lowerE": 2, "newestE": 6, "widestE": 3}
    assert learned(pieces, 4) == [("t", "E"), ("s", "tE"), ("e", "stE"), ("o", "w")]


@pytest.mark.parametrize(
    ("pieces", "first"),
    [
        ({"ab": 1, "cd": 1}, ("c", "d")),  # the greatest left token
        ({"ab": 1, "ac": 1}, ("a", "c")),  # then the greatest right one
        ({"ab": 2, "cd": 1}, ("a", "b")),  # but the count first
        ({"ae": 1, "aａ": 1, "a𐐀": 1}, ("a", "𐐀")),  # by code points, not by UTF-16 units
        ({"aaa": 1, "bc": 3}, ("b", "c")),  # a run of three is two pairs
        ({"aaa": 2, "bc": 3}, ("a", "a")),
        ({"aaa": 1, "ZY": 1}, ("a", "a")),
    ],
)
def test_which_pair_is_first(pieces: dict[str, int], first: tuple[str, str]):
    assert learned(pieces, 1) == [first]


def test_of_two_tokens_that_begin_alike_the_longer_is_greater():
    assert learned({"ab": 9, "abx": 1, "ax": 1}) == [("a", "b"), ("ab", "x"), ("a", "x")]


@pytest.mark.parametrize("pieces", [{}, {"a": 7}, {"a": 1, "b": 2}])
def test_where_nothing_stands_side_by_side_there_are_no_merges(pieces: dict[str, int]):
    assert learned(pieces) == []


def test_no_more_merges_than_asked_for():
    assert learned({"abcd": 1}, 0) == []
    assert len(learned({"abcd": 1}, 2)) == 2
    assert len(learned({"abcd": 1}, 9)) == 3


any_pieces = st.sampled_from(["ab", "abc", "abcdefgh", "xé𐐀"]).flatmap(
    lambda letters: st.dictionaries(st.text(letters, min_size=1, max_size=25), st.integers(1, 4), max_size=12)
)


@given(any_pieces, st.integers(0, 60))
def test_learning_agrees_with_counting_everything_anew(pieces: dict[str, int], number: int):
    assert learned(pieces, number) == merges_plainly(pieces, number)


@given(any_pieces)
def test_no_two_merges_make_the_same_text(pieces: dict[str, int]):
    made = [left + right for left, right in learned(pieces)]
    assert len(set(made)) == len(made)


@given(any_pieces, st.text("abcé", max_size=60))
def test_applying_agrees_with_doing_every_merge_in_order(pieces: dict[str, int], text: str):
    pairs = learned(pieces, 40)
    expected = list(text)
    for pair in pairs:
        expected = merged_plainly(expected, pair)
    assert applied(text, pairs) == expected


def test_learned_pieces_come_out_as_they_were_when_learning_ended():
    pieces = {"a" * 5000: 1, "ba" * 7: 3}
    assert all(applied(piece, learned(pieces)) == [piece] for piece in pieces)


def test_learning_agrees_with_the_tokenizers_library_up_to_the_first_tie():
    """The library breaks ties by id, so only merges before the first tie may be compared."""
    draw = random.Random(1)
    words = [
        "".join(draw.choices("abcde", weights=(5, 4, 3, 2, 1), k=draw.randint(2, 5))) for _ in range(400)
    ]
    pieces = dict(Counter(word for word in words for _ in range(draw.randint(1, 100))))
    ours = learned(pieces, 60)
    texts = [(list(piece), times) for piece, times in pieces.items()]
    untied = 0
    for pair in ours:
        (_, first), (_, second) = pairs_plainly(texts).most_common(2)
        if first == second:
            break
        texts = [(merged_plainly(tokens, pair), times) for tokens, times in texts]
        untied += 1
    assert untied >= 20
    theirs = Peer(models.BPE())
    trainer = trainers.BpeTrainer(vocab_size=5 + untied, show_progress=False)  # pyright: ignore
    theirs.train_from_iterator((piece for piece, times in pieces.items() for _ in range(times)), trainer)
    by_id = {number: token for token, number in theirs.get_vocab().items()}
    assert [by_id[number] for number in range(5, 5 + untied)] == [
        left + right for left, right in ours[:untied]
    ]
