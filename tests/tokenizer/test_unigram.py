"""`unigram`: of all ways to cut a text the likeliest, and the same tokens in every process."""

import json
import math
import os
import random
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import onechange
from onechange.documents import prepare
from onechange.family import resolve
from onechange.tokenizer.unigram import Unigram
from onechange.unigram_learning import GRAIN

turns = {
    "vocabulary": (75, 60),
    "learn_from": ("training", "all"),
    "split": ("classes", "gpt2"),
    "digits": ("pattern", "single"),
    "space": ("pattern", "joined"),
}
WORDS = ["walking", "talking", "elephant", "elephants", "cat", "cats", "hat", "sat", "the", "the", "the"]


def learned(documents: list[str], more: int = 30, characters: str = "", **settings) -> Unigram:
    alphabet = "".join(sorted(set("".join([*documents, characters]))))
    tokenizer = Unigram(vocabulary=len(alphabet) + more, **settings)
    tokenizer.learn(documents, alphabet)
    return tokenizer


@pytest.fixture(scope="module")
def tokenizer() -> Unigram:
    generator = random.Random(0)
    return learned([" ".join(generator.choices(WORDS, k=40)) for _ in range(20)], characters="xyz")


def likeliest_plainly(text: str, scores: dict[str, float]) -> float:
    """The log-probability of the best way to cut ``text``, from that of every shorter beginning."""
    best = [0.0]
    for end in range(1, len(text) + 1):
        best.append(
            max(best[start] + scores[text[start:end]] for start in range(end) if text[start:end] in scores)
        )
    return best[-1]


@given(st.lists(st.sampled_from([*WORDS, "cathat", "xelephantsats", "ing"]), max_size=8))
def test_no_other_cut_is_likelier(tokenizer: Unigram, words: list[str]):
    text = " ".join(words)
    tokens = [tokenizer.tokens()[number] for number in tokenizer.encode(text)]
    assert "".join(tokens) == text
    assert sum(tokenizer.scores[token] for token in tokens) == likeliest_plainly(text, tokenizer.scores)


def test_words_that_only_their_end_follows_are_tokens(tokenizer: Unigram):
    assert {"elephant", "elephants", "the", "talking", "walking"} <= set(tokenizer.tokens())


def test_endings_are_tokens():
    corpus = prepare(resolve("corpus", {"name": "storyworld", "characters": 60_000}))
    tokenizer = Unigram(vocabulary=200)
    tokenizer.learn(corpus.training, corpus.alphabet)
    assert {"s", "ed", "er", "ing", "ly"} <= set(tokenizer.tokens())


def test_probabilities_are_probabilities_in_exact_sums(tokenizer: Unigram):
    scores = tokenizer.scores
    assert sum(map(math.exp, scores.values())) == pytest.approx(1, abs=0.05)
    assert all((score * GRAIN).is_integer() for score in scores.values())
    assert scores["the"] == max(score for token, score in scores.items() if token != " ")


def test_characters_come_first_then_the_likeliest(tokenizer: Unigram):
    scores = list(tokenizer.scores.items())
    single = [token for token, _ in scores if len(token) == 1]
    assert single == sorted(single) == [token for token, _ in scores[: len(single)]]
    longer = scores[len(single) :]
    assert all((-a[1], a[0]) < (-b[1], b[0]) for a, b in pairwise(longer))


def test_what_the_text_does_not_hold_can_be_written_at_the_lowest_probability(tokenizer: Unigram):
    lowest = min(tokenizer.scores.values())
    assert [tokenizer.scores[character] for character in "xyz"] == [lowest] * 3
    assert tokenizer.decode(tokenizer.encode("xzy the")) == "xzy the"


@pytest.mark.parametrize("more", [0, 1, 2])
def test_learning_few_tokens_ends(more: int):
    """Twenty-five letters that come only after a q each: the trainer alone would go on for ever."""
    letters = [chr(code) for code in range(ord("a"), ord("z"))]
    tokenizer = learned([" ".join(f"q{letter}" for letter in letters * 40)], more=more)
    assert tokenizer.vocabulary_size == tokenizer.vocabulary
    assert [len(token) > 1 for token in tokenizer.tokens()].count(True) == more


def test_no_token_spans_two_pieces():
    tokenizer = learned(["to be, to be. " * 20, "12 12 12"])
    tokens = tokenizer.tokens()
    assert "to" in tokens and "be" in tokens
    assert not [token for token in tokens if len({char.isalpha() for char in token}) > 1]
    joined = learned(["to be, to be. " * 20], split="gpt2").tokens()
    assert " be" in joined


def test_a_vocabulary_that_cannot_be_reached_ends_early_and_says_so():
    tokenizer = learned(["ab ab"], more=1000)
    assert tokenizer.vocabulary_size < 10
    assert "the text learned from has no more candidates" in tokenizer.remarks()[0]
    exact = learned([" ".join(WORDS * 5)], more=7)
    assert exact.vocabulary_size == exact.vocabulary
    assert exact.remarks() == []


@pytest.mark.parametrize("documents", [[], [""], ["a"], ["\0a\0 \0a\0"], ["\ue000\ue001 \ue000\ue001"]])
def test_odd_texts_are_learned_from(documents: list[str]):
    tokenizer = learned(documents, characters="ab", more=5)
    assert tokenizer.decode(tokenizer.encode("".join(documents))) == "".join(documents)
    assert all(token in "".join(documents) + "ab" for token in tokenizer.tokens())


@pytest.mark.parametrize("text", ["a" * 1_000_000, " " * 1_000_000, "1" * 100_000, "ab" * 300_000])
def test_a_piece_without_end_is_learned_from(text: str):
    tokenizer = learned([text], more=20)
    ids = tokenizer.encode(text)
    assert tokenizer.decode(ids) == text


LEARN = """
import hashlib, json, random, sys
from onechange.tokenizer.unigram import Unigram
documents = json.load(sys.stdin)
alphabet = "".join(sorted(set("".join(documents))))
random.Random(int(sys.argv[1])).shuffle(documents)
found = []
for vocabulary in (100, 300, 1000):
    tokenizer = Unigram(vocabulary=vocabulary)
    tokenizer.learn(documents, alphabet)
    found.append(tokenizer.to_json())
print(hashlib.sha256(json.dumps(found).encode()).hexdigest())
"""


def test_processes_threads_and_the_order_of_documents_do_not_matter():
    text = json.dumps(list(prepare(resolve("corpus", {"name": "storyworld", "characters": 60_000})).training))
    found = {
        subprocess.run(
            [sys.executable, "-c", LEARN, str(shuffled)],
            input=text,
            capture_output=True,
            text=True,
            check=True,
            env={
                **os.environ,
                "PYTHONPATH": str(Path(onechange.__file__).parents[1]),
                "RAYON_NUM_THREADS": threads,
            },
        ).stdout
        for shuffled, threads in enumerate(("1", "2", "3"))
    }
    assert len(found) == 1


def test_unknown_characters_are_named():
    with pytest.raises(
        ValueError, match=r"2 characters outside .*'Q' \(U\+0051\) at 4, 'é' \(U\+00E9\) at 6"
    ):
        learned(["the cat"]).encode("the Qaé")
    with pytest.raises(ValueError, match=r"1 character outside .*'q'"):
        Unigram(vocabulary=9).learn(["a qa"], " a")


@pytest.mark.parametrize("name", ["learn", "restore"])
def test_without_the_library_it_says_what_to_install(
    tokenizer: Unigram, monkeypatch: pytest.MonkeyPatch, name: str
):
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    other = Unigram(vocabulary=tokenizer.vocabulary)
    with pytest.raises(
        ValueError, match=r"'unigram' needs the library tokenizers, .* 'onechange\[tokenizers\]'"
    ):
        other.restore(tokenizer.to_json()) if name == "restore" else other.learn(["a"], "a")


@pytest.mark.parametrize(
    ("vocab", "message"),
    [
        ([["a", -1.0], ["a", -1.0]], "its tokens must differ"),
        ([["a", -1.0], ["", -1.0]], "none may be empty"),
        ([["ab", -1.0], ["a", -1.0], ["b", -1.0]], "'ab': all single characters must come first"),
        ([["b", -1.0], ["a", -1.0]], "in code-point order"),
        ([["a", -1.0], ["ab", -1.0]], "outside the tokenizer's alphabet"),
        ([["a", -1.0]] * 2 + [["b", -1]] * 9, "its tokens must differ"),
        ([["a", "x"]], "model.vocab: Expected `float`"),
        ([[chr(97 + n), -1.0] for n in range(5)], "5 tokens are more than the vocabulary of 4"),
    ],
)
def test_a_vocabulary_that_is_none_is_refused(vocab: list, message: str):
    content = learned(["abab"]).to_json()
    with pytest.raises(ValueError, match=message):
        Unigram(vocabulary=4).restore({**content, "model": {**content["model"], "vocab": vocab}})
