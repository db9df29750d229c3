"""The incremental learner and the merging of pieces, against plain versions that do all anew."""

import random
from collections import Counter
from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer as Peer
from tokenizers import models, trainers

import plain_merges
from onechange import merges
from onechange.alphabet import Alphabet
from onechange.merging import Merging
from onechange.symbols import Bytes, Characters, Symbols


def laid_out(pieces: Mapping[bytes, int], symbols: Symbols) -> merges.Row:
    text = np.frombuffer(b"".join(pieces), dtype=np.uint8)
    ids, ends = symbols.ids(text, np.cumsum([len(piece) for piece in pieces], dtype=np.int64))
    return merges.laid_out(ids, ends, np.array(list(pieces.values()), dtype=np.int64))


def of_symbols(pieces: Mapping[bytes, int], symbols: Symbols, number: int) -> list[tuple[bytes, bytes]]:
    tokens = symbols.tokens
    found = []
    for left, right in merges.learn(laid_out(pieces, symbols), tokens, number):
        found.append((tokens[left], tokens[right]))
        tokens.append(tokens[left] + tokens[right])
    return found


def learned(pieces: Mapping[str, int], number: int = 10_000) -> list[tuple[str, str]]:
    """Merges of characters."""
    if not pieces:
        return []
    symbols = Characters(Alphabet("".join(sorted(set("".join(pieces))))))
    found = of_symbols({piece.encode(): times for piece, times in pieces.items()}, symbols, number)
    return [(left.decode(), right.decode()) for left, right in found]


def applied(texts: list[str], pairs: list[tuple[str, str]]) -> list[list[str]]:
    """The tokens of each of ``texts`` by `Merging`."""
    alphabet = sorted(set("".join(texts)).union(*map("".join, pairs)))
    tokens = [*alphabet, *(left + right for left, right in pairs)]
    numbers = {token: number for number, token in enumerate(tokens)}
    merging = Merging(
        [(numbers[left], numbers[right]) for left, right in pairs],
        [numbers[left + right] for left, right in pairs],
    )
    ids = np.array([numbers[letter] for text in texts for letter in text], dtype=np.int32)
    found, ends = merging.apply(ids, np.cumsum([len(text) for text in texts], dtype=np.int64))
    return [[tokens[number] for number in part] for part in np.split(found, ends)[:-1]]


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


@pytest.mark.parametrize("common", [6, 7, 8, 9, 15, 16, 17])
def test_tokens_that_begin_alike_for_long_are_compared_to_their_ends(common: int):
    """Two long tokens, each merged first, then each followed by an x as often as the other."""
    one, other = "a" * common + "c" * 3, "a" * common + "b" * 4
    pieces = {one: 50, other: 50, one + "x": 1, other + "x": 1}
    found = learned(pieces)
    assert found[-2:] == [(one, "x"), (other, "x")]
    assert found == plain_merges.merges(pieces, 10_000)


def test_zero_bytes_count_in_a_comparison():
    """What is filled up with zeros to be compared is still shorter than what has them."""
    pieces = {b"ab": 90, b"ab\0": 60, b"ab\0\0": 40, b"abz": 1, b"ab\0z": 1, b"ab\0\0z": 1}
    found = of_symbols(pieces, Bytes(), 100)
    assert found == plain_merges.merges(pieces, 100)
    assert found[-3:] == [(b"ab\0\0", b"z"), (b"ab\0", b"z"), (b"ab", b"z")]


@pytest.mark.parametrize("pieces", [{"a": 7}, {"a": 1, "b": 2}])
def test_where_nothing_stands_side_by_side_there_are_no_merges(pieces: dict[str, int]):
    assert learned(pieces) == []


def test_without_pieces_there_are_no_merges():
    assert of_symbols({}, Bytes(), 10) == []


def test_no_more_merges_than_asked_for():
    assert learned({"abcd": 1}, 0) == []
    assert learned({"abcd": 1}, -1) == []
    assert len(learned({"abcd": 1}, 2)) == 2
    assert len(learned({"abcd": 1}, 9)) == 3


def test_counts_are_made_in_64_bits():
    """In 32 bits each of these counts is less than the one that it exceeds."""
    assert learned({"ab": 2**32, "cd": 7, "ef": 2**31}, 3) == [("a", "b"), ("e", "f"), ("c", "d")]
    pieces = {"ab": 2**40, "abc": 2**61, "xy": 2**61 + 1, "yz": 2**31 + 1, "ac": 2**32 + 1}
    assert learned(pieces) == plain_merges.merges(pieces, 10_000)


any_pieces = st.sampled_from(["ab", "abc", "abcdefgh", "xé𐐀"]).flatmap(
    lambda letters: st.dictionaries(st.text(letters, min_size=1, max_size=25), st.integers(1, 4), max_size=12)
)


@given(any_pieces, st.integers(0, 60))
def test_learning_agrees_with_counting_everything_anew(pieces: dict[str, int], number: int):
    assert learned(pieces, number) == plain_merges.merges(pieces, number)


@given(any_pieces, st.integers(0, 60))
def test_learning_on_bytes_agrees_with_counting_everything_anew(pieces: dict[str, int], number: int):
    content = {piece.encode(): times for piece, times in pieces.items()}
    assert of_symbols(content, Bytes(), number) == plain_merges.merges(content, number)


@pytest.mark.parametrize("before", [*range(4090, 4100), *range(8185, 8195)])
def test_no_pair_is_lost_where_there_is_more_room_to_be_made(before: int):
    """A pair that is number 4,096 or so is counted again after as many others have come as fit at first."""
    others = [chr(0x4E00 + number) + "x" for number in range(before + 5)]
    pieces = {"yy": 5} | dict.fromkeys(others[:before], 1)
    pieces |= {"zz": 3, others[-5]: 1, others[-4]: 1, others[-3]: 1, others[-2]: 1, "zzq": 3}
    assert learned(pieces, 2) == [("z", "z"), ("y", "y")]


@pytest.mark.parametrize("seed", range(4))
def test_thousands_of_pairs_agree_too(seed: int):
    """More pairs and entries in the heap than there is room for at first."""
    draw = random.Random(seed)
    letters = "".join(map(chr, range(0x4E00, 0x4E00 + 250)))
    pieces = {
        "".join(draw.choices(letters, k=draw.randint(1, 60))): draw.randint(1, 3) for _ in range(250)
    } | {"".join(draw.choices("ab", k=draw.randint(1, 90))): draw.randint(1, 3) for _ in range(10)}
    assert len(plain_merges.pairs((list(piece), 1) for piece in pieces)) > 5000
    assert learned(pieces, 100) == plain_merges.merges(pieces, 100)


@given(any_pieces)
def test_no_two_merges_make_the_same_text(pieces: dict[str, int]):
    made = [left + right for left, right in learned(pieces)]
    assert len(set(made)) == len(made)


@given(any_pieces, st.randoms(use_true_random=False))
def test_the_order_of_the_pieces_does_not_matter(pieces: dict[str, int], random: random.Random):
    shuffled = list(pieces.items())
    random.shuffle(shuffled)
    assert learned(dict(shuffled)) == learned(pieces)


@given(any_pieces, st.lists(st.text("abcé", max_size=60), max_size=5))
def test_applying_agrees_with_doing_every_merge_in_order(pieces: dict[str, int], texts: list[str]):
    pairs = learned(pieces, 40)
    assert applied(texts, pairs) == [plain_merges.encoded(text, pairs) for text in texts]


def test_learned_pieces_come_out_as_they_were_when_learning_ended():
    pieces = {"a" * 5000: 1, "ba" * 7: 3}
    assert applied(list(pieces), learned(pieces)) == [[piece] for piece in pieces]


@pytest.mark.parametrize("length", [2, 3, 4, 5, 6, 7, 11, 16, 31, 100])
def test_a_run_merges_from_the_left(length: int):
    """Of aaa the first two, whether learned or applied: the last one stays alone."""
    pairs = [("a", "a")]
    assert applied(["a" * length], pairs) == [["aa"] * (length // 2) + ["a"] * (length % 2)]
    pieces = {"a" * length: 3, "ab" * length: 1, "aab" * length: 1, "baa" * length: 1}
    assert learned(pieces) == plain_merges.merges(pieces, 10_000)


def test_the_earliest_merge_comes_first_not_the_leftmost():
    assert applied(["abc"], [("b", "c"), ("a", "b")]) == [["a", "bc"]]
    assert applied(["abcabc"], [("c", "a"), ("a", "b"), ("b", "c")]) == [["ab", "ca", "bc"]]


def test_a_piece_ends_where_a_longer_one_before_it_went_on():
    """Behind aa there is nothing, though the piece before had a b there."""
    assert applied(["cdb", "aa", "aab"], [("a", "a"), ("aa", "b")]) == [["c", "d", "b"], ["aa"], ["aab"]]


def test_learning_leaves_the_row_as_it_was():
    row = laid_out({b"abab": 1, b"x": 3, b"ba": 2}, Bytes())
    before = [array.copy() for array in row]
    merges.learn(row, Bytes().tokens, 5)
    for now, then in zip(row, before, strict=True):
        np.testing.assert_array_equal(now, then)
    assert row.ids.tolist() == [-1, 97, 98, 97, 98, -1, 98, 97, -1]
    assert row.times.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("ids", "lengths", "made"),
    [
        ([0] * 64, [1 << 22], [1 << 23, 1 << 24, 1 << 25]),  # a run: every merge doubles the longest token
        ([0, 1], [1 << 24, 1 << 24], [1 << 25]),  # all together have just as many
        ([0, 1], [1 << 24, 1 << 24, 1], []),  # one byte more, of a token that is not in the text
    ],
)
def test_learning_ends_before_the_tokens_fill_the_memory(ids: list[int], lengths: list[int], made: list[int]):
    tokens = [bytes([97 + number]) * length for number, length in enumerate(lengths)]
    row = merges.laid_out(np.array(ids, dtype=np.int32), np.array([len(ids)]), np.array([1]))
    for left, right in merges.learn(row, tokens, 1000):
        lengths.append(lengths[left] + lengths[right])
    assert lengths[len(tokens) :] == made
    assert sum(lengths) <= merges.MOST_BYTES


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
        (_, first), (_, second) = plain_merges.pairs(texts).most_common(2)
        if first == second:
            break
        texts = [(plain_merges.merged(tokens, pair), times) for tokens, times in texts]
        untied += 1
    assert untied >= 20
    theirs = Peer(models.BPE())
    trainer = trainers.BpeTrainer(vocab_size=5 + untied, show_progress=False)  # pyright: ignore
    theirs.train_from_iterator((piece for piece, times in pieces.items() for _ in range(times)), trainer)
    by_id = {number: token for token, number in theirs.get_vocab().items()}
    assert [by_id[number] for number in range(5, 5 + untied)] == [
        left + right for left, right in ours[:untied]
    ]
