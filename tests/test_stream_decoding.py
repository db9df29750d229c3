"""Ids one by one as text, by hand; that it agrees with `decode` is in the tokenizers' contract."""

import pytest

from onechange.stream_decoding import StreamDecoder
from onechange.tokenizer.byte import Byte


def test_a_character_comes_out_with_its_last_byte() -> None:
    stream = StreamDecoder(Byte())
    assert [stream.feed([byte]) for byte in "a😀é".encode()] == ["a", "", "", "", "😀", "", "é"]
    assert stream.finish() == ""


def test_several_ids_at_once() -> None:
    stream = StreamDecoder(Byte())
    content = "中文".encode()
    assert (stream.feed(content[:4]), stream.feed(content[4:]), stream.feed([])) == ("中", "文", "")


def test_what_is_left_is_one_replacement_character_and_a_new_text_may_follow() -> None:
    stream = StreamDecoder(Byte())
    assert stream.feed("😀".encode()[:3]) == ""
    assert stream.finish() == "\ufffd"
    assert stream.feed("é".encode()) == "é"


def test_a_character_that_is_broken_off_does_not_hold_back_the_next() -> None:
    stream = StreamDecoder(Byte())
    assert stream.feed("😀".encode()[:2]) == ""
    assert stream.feed(b"b") == "\ufffdb"


def test_an_id_that_is_none_is_named_and_nothing_is_taken_up() -> None:
    stream = StreamDecoder(Byte())
    with pytest.raises(ValueError, match="no token has the id 256: ids are 0 to 255"):
        stream.feed([0x61, 256])
    assert stream.feed([0x62]) == "b"
