"""What a run keeps of its tokenizer is loaded by others' libraries, which encode and decode the same."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer as Peer

from contract.test_tokenizer import ALPHABET, MEMBERS, TRAINING, WIDE, learned, resolved, texts
from onechange import family, tokenizer_file
from onechange.tokenizer import Tokenizer

SPECIAL = ["<|endoftext|>", "<|end|>", "[UNK]", "<unk>", "##a", "▁a", "Ġa", "<0x41>"]
"""What one library or another might take for more than its characters."""


@pytest.fixture(params=MEMBERS, scope="module")
def tokenizer(request: pytest.FixtureRequest) -> Tokenizer:
    return learned(resolved(request.param))


@pytest.fixture(scope="module")
def run(tokenizer: Tokenizer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as a run has it."""
    folder = tmp_path_factory.mktemp("run")
    name = type(tokenizer).__module__.rpartition(".")[2]
    tokenizer_file.save(tokenizer, resolved(name), folder)
    return folder


@pytest.fixture(scope="module")
def peer(run: Path) -> Peer:
    return Peer.from_file(str(run / "tokenizer.json"))


@pytest.fixture(scope="module", params=["by file", "by folder"])
def fast(run: Path, request: pytest.FixtureRequest) -> Any:
    import transformers

    if request.param == "by folder":
        return transformers.AutoTokenizer.from_pretrained(run)
    return transformers.PreTrainedTokenizerFast(
        tokenizer_file=str(run / "tokenizer.json"), clean_up_tokenization_spaces=False
    )


def drawn(tokenizer: Tokenizer, data: st.DataObject) -> str:
    """Text with what others' libraries might take for something else, as far as the tokenizer can write it."""
    odd = [text for text in [*SPECIAL, " .", " n't", *WIDE] if set(text) <= set(ALPHABET)]
    parts = st.lists(texts(tokenizer) | st.sampled_from([*TRAINING, *odd]), max_size=4)
    return "".join(data.draw(parts))


@given(data=st.data())
def test_tokenizers_encodes_and_decodes_the_same(tokenizer: Tokenizer, peer: Peer, data: st.DataObject):
    text = drawn(tokenizer, data)
    ids = tokenizer.encode(text).tolist()
    assert peer.encode(text).ids == ids
    assert peer.decode(ids, skip_special_tokens=False) == tokenizer.decode(ids)
    assert peer.get_vocab_size() == tokenizer.vocabulary_size


@given(data=st.data())
@settings(max_examples=50)
def test_transformers_encodes_and_decodes_the_same(tokenizer: Tokenizer, fast: Any, data: st.DataObject):
    text = drawn(tokenizer, data)
    ids = tokenizer.encode(text).tolist()
    assert fast.encode(text) == fast(text)["input_ids"] == ids
    assert fast.decode(ids) == tokenizer.decode(ids)
    assert len(fast) == tokenizer.vocabulary_size


@given(data=st.data())
@settings(max_examples=50)
def test_any_ids_decode_the_same(tokenizer: Tokenizer, peer: Peer, data: st.DataObject):
    """Also what no text encodes to: halves of characters, tokens in any order."""
    ids = data.draw(st.lists(st.integers(0, tokenizer.vocabulary_size - 1), max_size=12))
    assert peer.decode(ids, skip_special_tokens=False) == tokenizer.decode(ids)


def test_what_the_library_writes_again_is_the_same_content(run: Path, peer: Peer):
    assert json.loads(peer.to_str()) == json.loads((run / "tokenizer.json").read_bytes())


def test_pretrained_takes_it_too(tokenizer: Tokenizer, run: Path):
    other = family.build("tokenizer", family.resolve("tokenizer", {"name": "pretrained", "source": str(run)}))
    other.learn(TRAINING, ALPHABET)
    assert (other.loss, other.token_bytes()) == (tokenizer.loss, tokenizer.token_bytes())
    for text in (*TRAINING, ALPHABET):
        assert other.encode(text).tolist() == tokenizer.encode(text).tolist()
