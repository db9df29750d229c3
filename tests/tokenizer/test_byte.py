"""`byte`: the id of a byte is its value, and nothing is learned."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer as Peer
from tokenizers.pre_tokenizers import ByteLevel

from onechange.hugging_face import BYTES
from onechange.tokenizer.byte import Byte

turns: dict = {}

THEIRS = Peer.from_str(json.dumps(Byte().to_json()))


@given(st.text())
def test_ids_are_the_bytes(text: str):
    assert Byte().encode(text).tolist() == list(text.encode())


def test_a_hand_count():
    assert Byte().encode("aé中😀\0").tolist() == [
        *(0x61, 0xC3, 0xA9, 0xE4, 0xB8, 0xAD, 0xF0, 0x9F, 0x98, 0x80, 0)
    ]
    assert Byte().vocabulary_size == 256
    assert Byte().tokens()[0x61] == "a"
    assert Byte().tokens()[0xC3] == "\\xc3"


def test_half_a_character_is_a_replacement_character():
    assert Byte().decode([0x61, 0xF0, 0x9F, 0x62]) == "a\ufffdb"


def test_lone_surrogates_are_named_with_their_places():
    with pytest.raises(ValueError, match=r"'\\ud800' \(U\+D800\) at 1, 3, '\\udfff' \(U\+DFFF\) at 4; "):
        Byte().encode("a\ud800b\ud800\udfff")


def test_the_characters_for_bytes_are_the_library_s():
    assert sorted(BYTES) == sorted(ByteLevel.alphabet())
    assert len(set(BYTES)) == 256
    assert (BYTES[0x20], BYTES[0x0A], BYTES[0x61], BYTES[0xAD]) == ("Ġ", "Ċ", "a", "Ń")


@given(st.text())
def test_the_library_encodes_and_decodes_the_same(text: str):
    ids = THEIRS.encode(text).ids
    assert ids == Byte().encode(text).tolist()
    assert THEIRS.decode(ids) == text


@given(st.lists(st.integers(0, 255), max_size=40))
def test_the_library_decodes_what_is_no_text_the_same(ids: list[int]):
    assert THEIRS.decode(ids) == Byte().decode(ids)
