"""`bpe`: the merges that a plain count finds, done in the order learned."""

import hashlib
import random
import re
import sys
from collections import Counter
from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Regex, models, pre_tokenizers, trainers
from tokenizers import Tokenizer as Peer

from onechange.tokenizer.bpe import PIECE, Bpe

turns = {"vocabulary": (60, 65), "learn_from": ("training", "all")}

SENTENCE = "Lucy found a small box under her bed. When she opened it,"


def kind(character: str) -> str:
    if character.isspace():
        return "space"
    if character.isdecimal():
        return "digit"
    return "letter" if character.isalnum() else "other"


def pieces_plainly(text: str) -> list[str]:
    return ["".join(run) for _, run in groupby(text, key=kind)]


def merged_plainly(tokens: list[str], pair: tuple[str, str]) -> list[str]:
    done: list[str] = []
    at = 0
    while at < len(tokens):
        together = tuple(tokens[at : at + 2]) == pair
        done.append("".join(pair) if together else tokens[at])
        at += 2 if together else 1
    return done


def pairs_plainly(pieces: list[list[str]]) -> Counter[tuple[str, str]]:
    """Every pair counted anew over the whole text."""
    counts: Counter[tuple[str, str]] = Counter()
    for tokens in pieces:
        counts.update((tokens[at], tokens[at + 1]) for at in range(len(tokens) - 1))
    return counts


def merges_plainly(documents: list[str], number: int) -> list[tuple[str, str]]:
    pieces = [list(piece) for document in documents for piece in pieces_plainly(document)]
    merges: list[tuple[str, str]] = []
    while len(merges) < number and (counts := pairs_plainly(pieces)):
        best = max(counts, key=lambda pair: (counts[pair], pair))
        merges.append(best)
        pieces = [merged_plainly(tokens, best) for tokens in pieces]
    return merges


def encoded_plainly(text: str, merges: list[tuple[str, str]]) -> list[str]:
    pieces = [list(piece) for piece in pieces_plainly(text)]
    for pair in merges:
        pieces = [merged_plainly(tokens, pair) for tokens in pieces]
    return [token for tokens in pieces for token in tokens]


def learned(documents: list[str], more: int = 10_000, characters: str = "", **settings) -> Bpe:
    alphabet = "".join(sorted(set("".join([*documents, characters]))))
    tokenizer = Bpe(vocabulary=len(alphabet) + more, **settings)
    tokenizer.learn(documents, alphabet)
    return tokenizer


def texts(characters: str) -> st.SearchStrategy[str]:
    return st.text(alphabet=characters, max_size=60)


any_documents = st.sampled_from(["ab", "abc", "aab b", "xyzé. 1", "ab_-11 \n"]).flatmap(
    lambda characters: st.lists(texts(characters), min_size=1, max_size=6)
)


def test_every_character_is_in_exactly_one_kind_of_piece():
    branches = [re.compile(branch) for branch in (r"[^\W\d_]+", r"\d+", r"\s+", r"(?:[^\w\s]|_)+")]
    assert "|".join(branch.pattern for branch in branches) == PIECE.pattern
    for code in range(sys.maxunicode + 1):
        matching = [bool(branch.fullmatch(chr(code))) for branch in branches]
        assert matching == [kind(chr(code)) == name for name in ("letter", "digit", "space", "other")], code


def test_pieces_by_hand():
    found = PIECE.findall('Zoë\'s 2nd_try:\n\n"e\u0301, no!" ')
    assert found == [
        "Zoë",
        "'",
        "s",
        " ",
        "2",
        "nd",
        "_",
        "try",
        ":",
        "\n\n",
        '"',
        "e",
        "\u0301,",
        " ",
        "no",
        '!"',
        " ",
    ]


@given(st.text())
def test_pieces_are_runs_of_one_kind(text: str):
    assert PIECE.findall(text) == pieces_plainly(text)


def test_the_example_of_the_paper():
    """Algorithm 1 of Sennrich et al., with E for its end of a word, and with the ties of this project:
    es, st and tE are counted 9 times each, lo and ow 7 times each."""
    documents = ["lowE"] * 5 + ["lowerE"] * 2 + ["newestE"] * 6 + ["widestE"] * 3
    assert learned(documents, more=4).merges == [("t", "E"), ("s", "tE"), ("e", "stE"), ("o", "w")]


@pytest.mark.parametrize(
    ("documents", "first"),
    [
        (["ab", "cd"], ("c", "d")),  # the greatest left token
        (["ab", "ac"], ("a", "c")),  # then the greatest right one
        (["ab", "ab", "cd"], ("a", "b")),  # but the count first
        (["ae", "aａ", "a𐐀"], ("a", "𐐀")),  # by code points, not by UTF-16 units
        (["a b", "1-1", "\n\n"], ("\n", "\n")),  # never across the ends of a piece
        (["aaa", "bc", "bc", "bc"], ("b", "c")),  # a run of three is two pairs
        (["aaa", "ZY"], ("a", "a")),
    ],
)
def test_which_pair_is_first(documents: list[str], first: tuple[str, str]):
    assert learned(documents, more=1).merges == [first]


def test_of_two_tokens_that_begin_alike_the_longer_is_greater():
    documents = ["ab"] * 9 + ["abx", "ax"]
    assert learned(documents).merges == [("a", "b"), ("ab", "x"), ("a", "x")]


@given(any_documents, st.integers(0, 40))
def test_learning_agrees_with_counting_everything_anew(documents: list[str], number: int):
    if "".join(documents):
        assert learned(documents, number).merges == merges_plainly(documents, number)


@given(any_documents, st.integers(0, 40), st.data())
def test_encoding_agrees_with_doing_every_merge_in_order(
    documents: list[str], number: int, data: st.DataObject
):
    if "".join(documents):
        tokenizer = learned(documents, number)
        text = data.draw(texts(tokenizer.state()["alphabet"]))
        tokens = tokenizer.tokens()
        assert [tokens[found] for found in tokenizer.encode(text)] == encoded_plainly(text, tokenizer.merges)


@given(any_documents)
def test_every_token_is_the_encoding_of_its_text(documents: list[str]):
    if "".join(documents):
        tokenizer = learned(documents)
        tokens = tokenizer.tokens()
        assert len(set(tokens)) == len(tokens)
        for number, token in enumerate(tokens):
            assert tokenizer.encode(token).tolist() == [number]


def test_ids_are_the_alphabet_then_the_merges():
    tokenizer = learned(["abab cc"], more=3, characters="z")
    assert tokenizer.tokens() == [" ", "a", "b", "c", "z", "ab", "cc", "abab"]


def test_a_long_run_of_one_letter():
    tokenizer = learned(["a" * 5000, "ba" * 7])
    text = "a" * 3001 + "b" + "a" * 17
    tokens = tokenizer.tokens()
    assert [tokens[found] for found in tokenizer.encode(text)] == encoded_plainly(text, tokenizer.merges)


def test_a_vocabulary_that_cannot_be_reached_ends_early_and_says_so():
    tokenizer = Bpe(vocabulary=100)
    tokenizer.learn(["abc"], "abc")
    assert tokenizer.vocabulary_size == 5
    assert tokenizer.remarks()[0].startswith("the vocabulary ends at 5 of 100 tokens")
    assert learned(["abc"], more=2).remarks() == []


def test_learning_from_all_text_is_remarked():
    assert "validation text" in learned(["abc"], more=2, learn_from="all").remarks()[0]


def test_a_vocabulary_of_the_alphabet_alone_has_no_merges():
    tokenizer = learned(["abab"], more=0)
    assert (tokenizer.merges, tokenizer.encode("ba").tolist()) == ([], [1, 0])


def test_a_vocabulary_smaller_than_the_alphabet_is_an_error_with_both_numbers():
    with pytest.raises(ValueError, match=r"vocabulary = 2 is smaller than the alphabet of 3 characters"):
        Bpe(vocabulary=2).learn(["abc"], "abc")


@pytest.mark.parametrize("wrong", [{"vocabulary": 0}, {"vocabulary": -1}, {"learn_from": "validation"}])
def test_a_wrong_setting_is_named_with_its_value(wrong: dict):
    ((name, value),) = wrong.items()
    with pytest.raises(ValueError, match=f"{name} = {value!r}"):
        Bpe(**wrong)


def test_a_document_outside_the_alphabet_is_an_error():
    with pytest.raises(ValueError, match=r"'c' \(U\+0063\) at 2"):
        Bpe().learn(["ab", "abc"], "ab")


def test_places_of_unknown_characters_count_from_the_start_of_the_text():
    tokenizer = learned(["ab ab"])
    with pytest.raises(ValueError, match=r"'z' \(U\+007A\) at 6, 9; "):
        tokenizer.encode("ab ab za z")


@pytest.mark.parametrize(
    ("merges", "wrong"),
    [
        ([["a", "x"]], "no token 'x' comes before it"),
        ([["ab", "a"], ["a", "b"]], "no token 'ab' comes before it"),
        ([["a", "b"], ["a", "b"]], "'ab', which is a token already"),
        ([["a", "b"], ["b", "a"], ["a", "a"], ["b", "b"]], "2 characters and 4 merges are more than"),
        ([["a"]], "'merges': Expected"),
        ([["a", 1]], "'merges': Expected"),
        ("ab", "'merges': Expected"),
    ],
)
def test_restoring_checks_the_merges(merges: object, wrong: str):
    with pytest.raises(ValueError, match=wrong):
        Bpe(vocabulary=5).restore({"alphabet": "ab", "merges": merges})


def test_more_pieces_than_are_remembered_change_nothing(monkeypatch: pytest.MonkeyPatch):
    tokenizer = learned(["abab ba aab"])
    before = tokenizer.encode("abba abab").tolist()
    monkeypatch.setattr("onechange.tokenizer.bpe.MOST_REMEMBERED", 2)
    for text in ("aa", "bb", "ab ab aba", "baab"):
        tokenizer.encode(text)
        assert tokenizer.encode("abba abab").tolist() == before


FIRST_TWENTY = {
    "all": "he an the ed to and in it re wa ou ha The er ay was en om is on",
    "training": "he an the ed to and in it re as ou ha The ay er was en om is on",
}


@pytest.mark.parametrize(
    ("learn_from", "digest", "last", "training_tokens", "validation_tokens"),
    [
        ("all", "181259362d8922c7", ("re", "ction"), 640_340, 71_148),
        ("training", "e576ec40ac39c87f", ("a", "live"), 640_102, 71_704),
    ],
)
def test_the_figures_of_an_independent_plain_count(
    cut_stories, learn_from, digest, last, training_tokens, validation_tokens
):
    stories = cut_stories.everything if learn_from == "all" else cut_stories.training
    tokenizer = Bpe(learn_from=learn_from)
    tokenizer.learn([part for story in stories for part in (story, "\n\n")], cut_stories.alphabet)
    assert (tokenizer.vocabulary_size, len(tokenizer.merges)) == (4096, 4022)
    assert " ".join(left + right for left, right in tokenizer.merges[:20]) == FIRST_TWENTY[learn_from]
    assert tokenizer.merges[-1] == last
    written = "\n".join(f"{left}\0{right}" for left, right in tokenizer.merges)
    assert hashlib.sha256(written.encode()).hexdigest()[:16] == digest
    for split, count in (
        (cut_stories.training, training_tokens),
        (cut_stories.validation, validation_tokens),
    ):
        separators = len(tokenizer.encode("\n\n")) * len(split)
        assert sum(len(tokenizer.encode(story)) for story in split) + separators == count
    tokens = [tokenizer.decode([number]) for number in tokenizer.encode(SENTENCE)]
    assert (len(SENTENCE), len(tokens)) == (57, 25)
    assert tokens == re.findall(r"\w+|\s|[.,]", SENTENCE)


def peer(model: models.BPE) -> Peer:
    found = Peer(model)
    split = r"\p{L}+|\p{Nd}+|\s+|[^\p{L}\p{Nd}\s]+"
    found.pre_tokenizer = pre_tokenizers.Split(Regex(split), behavior="isolated")  # pyright: ignore
    return found


def test_learning_agrees_with_the_tokenizers_library_up_to_the_first_tie():
    """The library breaks ties by id, so only merges before the first tie may be compared."""
    draw = random.Random(1)
    words = [
        "".join(draw.choices("abcde", weights=(5, 4, 3, 2, 1), k=draw.randint(2, 5))) for _ in range(400)
    ]
    documents = [word for word in words for _ in range(draw.randint(1, 100))]
    ours = learned(documents, more=60).merges
    pieces = [list(document) for document in documents]
    untied = 0
    for pair in ours:
        (_, first), (_, second) = pairs_plainly(pieces).most_common(2)
        if first == second:
            break
        pieces = [merged_plainly(tokens, pair) for tokens in pieces]
        untied += 1
    assert untied >= 20
    theirs = peer(models.BPE())
    trainer = trainers.BpeTrainer(vocab_size=5 + untied, show_progress=False)  # pyright: ignore
    theirs.train_from_iterator(documents, trainer)
    by_id = {number: token for token, number in theirs.get_vocab().items()}
    assert [by_id[number] for number in range(5, 5 + untied)] == [
        left + right for left, right in ours[:untied]
    ]


def test_encoding_agrees_with_the_tokenizers_library_given_the_same_merges(cut_stories):
    tokenizer = Bpe(vocabulary=2000)
    tokenizer.learn(cut_stories.training, cut_stories.alphabet)
    vocabulary = {token: number for number, token in enumerate(tokenizer.tokens())}
    theirs = peer(models.BPE(vocab=vocabulary, merges=tokenizer.merges))
    for story in cut_stories.validation:
        assert tokenizer.encode(story).tolist() == theirs.encode(story).ids
