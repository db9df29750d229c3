"""The merges that are recovered from published ranks, and `pretrained` on them, against tiktoken."""

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st

import edge_texts
import rank_files
from onechange import tiktoken_encoding
from onechange.tokenizer.pretrained import Pretrained


def test_the_merges_recovered_from_gpt2_s_ranks_are_those_that_were_learned():
    gpt2 = rank_files.gpt2()
    assert tiktoken_encoding.merges(gpt2.ranks) == gpt2.merges


def test_the_merges_recovered_from_cl100k_s_ranks_are_those_of_merging_every_token():
    cl100k = rank_files.cl100k()
    assert tiktoken_encoding.merges(cl100k.ranks) == cl100k.merges


def test_pretrained_is_cl100k_token_for_token(monkeypatch: pytest.MonkeyPatch):
    rank_files.cl100k()
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(rank_files.FOLDER))
    monkeypatch.setattr("tiktoken.registry.ENCODINGS", {})
    ours, theirs = Pretrained(source="tiktoken:cl100k_base"), tiktoken.get_encoding("cl100k_base")
    ours.learn(["a text"], " aetx")
    assert ours.vocabulary_size == theirs.n_vocab

    @given(st.one_of(edge_texts.texts, st.text()))
    def same(text: str) -> None:
        assert ours.encode(text).tolist() == theirs.encode(text, allowed_special="all")

    same()
