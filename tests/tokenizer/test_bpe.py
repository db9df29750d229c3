"""`bpe`: characters are merged within pieces, and the merges are those that an independent count found."""

import hashlib
import re
from collections import Counter
from itertools import product
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Regex, models, pre_tokenizers
from tokenizers import Tokenizer as Peer

import plain_merges
from onechange.pieces import NAMED, Digits, Pieces, Space
from onechange.tokenizer.bpe import Bpe

turns = {
    "vocabulary": (76, 65),
    "learn_from": ("training", "all"),
    "split": ("classes", "gpt2"),
    "digits": ("runs", "single"),
    "space": ("pattern", "joined"),
}
EVERY = list(product(NAMED, get_args(Digits), get_args(Space)))

SENTENCE = "Lucy found a small box under her bed. When she opened it,"


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


@pytest.mark.parametrize(("split", "digits", "space"), EVERY)
def test_merges_and_tokens_are_those_of_counting_everything_anew(split: str, digits: Digits, space: Space):
    documents = [
        "don't, don't!",
        " 12345 1234 123",
        "été  \n\n été",
        "a (b) (b",
        "中中 中中。 中中",
        "Ⅷ½ ½ x½",
    ]
    pieces = Pieces(split, digits, space)
    tokenizer = learned(documents, split=split, digits=digits, space=space)
    counts = Counter(piece for document in documents for piece in pieces.cut(document))
    assert tokenizer.merges == plain_merges.merges(counts, 10_000)
    text = " don't 54321 ét (b)(b \n x中½ "
    tokens = [token for piece in pieces.cut(text) for token in plain_merges.encoded(piece, tokenizer.merges)]
    assert [tokenizer.tokens()[number] for number in tokenizer.encode(text)] == tokens


@given(any_documents)
def test_every_token_is_the_encoding_of_its_text(documents: list[str]):
    if "".join(documents):
        tokenizer = learned(documents)
        tokens = tokenizer.tokens()
        assert len(set(tokens)) == len(tokens)
        for number, token in enumerate(tokens):
            assert tokenizer.encode(token).tolist() == [number]


@given(any_documents, st.data())
def test_no_token_spans_two_pieces(documents: list[str], data: st.DataObject):
    if "".join(documents):
        tokenizer = learned(documents)
        text = data.draw(texts("".join(set("".join(tokenizer.tokens())))))
        pieces = Pieces("classes").cut(text)
        apart = [number for piece in pieces for number in tokenizer.encode(piece).tolist()]
        assert tokenizer.encode(text).tolist() == apart


def test_ids_are_the_alphabet_then_the_merges():
    tokenizer = learned(["abab cc"], more=3, characters="z")
    assert tokenizer.tokens() == [" ", "a", "b", "c", "z", "ab", "cc", "abab"]


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


@pytest.mark.parametrize(
    "wrong",
    [
        {"vocabulary": 0},
        {"vocabulary": -1},
        {"learn_from": "validation"},
        {"digits": "pairs"},
    ],
)
def test_a_wrong_setting_is_named_with_its_value(wrong: dict):
    ((name, value),) = wrong.items()
    with pytest.raises(ValueError, match=f"{name} = {value!r}"):
        Bpe(**wrong)


def test_a_document_outside_the_alphabet_is_an_error():
    with pytest.raises(ValueError, match=r"'c' \(U\+0063\) at 2"):
        Bpe().learn(["ab", "abc"], "ab")


def test_an_unknown_character_leaves_nothing_behind():
    """The pieces that came with it are not remembered without tokens."""
    tokenizer = learned(["ab ab"])
    for _ in range(2):
        with pytest.raises(ValueError, match=r"'z' \(U\+007A\) at 3; "):
            tokenizer.encode("ba z")
        assert tokenizer.decode(tokenizer.encode("ba ab")) == "ba ab"


def test_places_of_unknown_characters_count_from_the_start_of_the_text():
    tokenizer = learned(["ab ab"])
    with pytest.raises(ValueError, match=r"'z' \(U\+007A\) at 6, 9; "):
        tokenizer.encode("ab ab za z")


@pytest.mark.parametrize(
    ("merges", "wrong"),
    [
        ([["a", "x"]], "no token 'x' comes before it"),
        ([["ab", "a"], ["a", "b"]], "no token 'ab' comes before it"),
        ([["a", "b"], ["a", "b"]], "'ab' is a token already"),
        ([["a", "b"], ["b", "a"], ["a", "a"], ["b", "b"]], "2 characters and 4 merges are more than"),
        ([["b", "a"]], r"model.vocab.ba is missing"),
        ([["a"]], "model.merges: Expected"),
        ([["a", 1]], "model.merges: Expected"),
        ("ab", "model.merges: Expected"),
    ],
)
def test_restoring_checks_the_merges(merges: list[Any] | str, wrong: str):
    content = learned(["ab"]).to_json()
    tokens = ["a", "b", *["ab", "xx", "yy", "zz"][: len(merges)]]
    content["model"]["vocab"] = {token: number for number, token in enumerate(tokens)}
    content["model"]["merges"] = merges
    with pytest.raises(ValueError, match=wrong):
        Bpe(vocabulary=5).restore(content)


def test_more_pieces_than_are_remembered_change_nothing(monkeypatch: pytest.MonkeyPatch):
    tokenizer = learned(["abab ba aab"])
    before = tokenizer.encode("abba abab").tolist()
    assert tokenizer._encoding is not None
    small = tokenizer._encoding.remembering(2)
    monkeypatch.setattr(tokenizer, "_encoding", small)
    for text in ("aa", "bb", "ab ab aba", "baab"):
        tokenizer.encode(text)
        assert tokenizer.encode("abba abab").tolist() == before
        assert len(small._table) <= 6


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


def test_encoding_agrees_with_the_tokenizers_library_given_the_same_merges(cut_stories):
    tokenizer = Bpe(vocabulary=2000)
    tokenizer.learn(cut_stories.training, cut_stories.alphabet)
    vocabulary = {token: number for number, token in enumerate(tokenizer.tokens())}
    theirs = Peer(models.BPE(vocab=vocabulary, merges=tokenizer.merges))
    split = r"\p{L}+|\p{Nd}+|\s+|[^\p{L}\p{Nd}\s]+"  # enough for these stories
    theirs.pre_tokenizer = pre_tokenizers.Split(Regex(split), behavior="isolated")  # pyright: ignore
    for story in cut_stories.validation:
        assert tokenizer.encode(story).tolist() == theirs.encode(story).ids
