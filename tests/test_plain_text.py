"""Reading text as a stream: however the bytes are chunked, the text is what Python's own decoder says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onechange.plain_text import Changes, decode, lines, stories

TEXT = st.text(alphabet=st.sampled_from("ab é\u20ac\U0001f41f\r\n\ufeff"), max_size=60)


def chunked(data: bytes, size: int) -> list[bytes]:
    return [data[start : start + size] for start in range(0, len(data), size)]


@given(TEXT, st.integers(1, 7))
def test_any_chunks_give_the_same_text(text: str, size: int) -> None:
    changes = Changes("here")
    read = "".join(decode(chunked(text.encode(), size), changes))
    assert read == text.removeprefix("\ufeff").replace("\r\n", "\n")
    assert changes.mark_dropped == text.startswith("\ufeff")
    assert changes.line_ends_replaced == text.count("\r\n")
    assert bool(changes.notes()) == (changes.mark_dropped or "\r\n" in text)


@given(st.lists(TEXT))
def test_lines_are_split_at_line_feeds_alone(pieces: list[str]) -> None:
    assert list(lines(pieces)) == "".join(pieces).split("\n")


@given(
    TEXT,
    st.sampled_from([b"\xff", b"\xc3(", b"\xed\xa0\x80", b"\xf0\x9f\x90", b"\xe2\x82"]),
    TEXT,
    st.integers(1, 9),
)
def test_a_bad_byte_is_named_with_its_offset(before: str, bad: bytes, after: str, size: int) -> None:
    data = before.encode() + bad + after.encode()
    with pytest.raises(UnicodeDecodeError) as truth:
        data.decode()
    offset = truth.value.start
    with pytest.raises(ValueError, match=rf"here: byte 0x{data[offset]:02x} at offset {offset}: "):
        list(decode(chunked(data, size), Changes("here")))


def test_utf_16_is_recognised() -> None:
    with pytest.raises(ValueError, match="offset 0: it may be UTF-16"):
        list(decode(["Once".encode("utf-16")], Changes("here")))


def test_a_file_that_ends_within_a_character() -> None:
    with pytest.raises(ValueError, match="offset 3: the file ends within a character"):
        list(decode([b"abc\xe2\x82"], Changes("here")))


def test_stories_stand_between_separator_lines() -> None:
    changes = Changes("here")
    text = "\none\ntwo\n<|endoftext|>\nthree <|endoftext|>\n  <|endoftext|>  \nfour"
    assert list(stories([text], changes)) == ["\none\ntwo", "three <|endoftext|>", "four"]
    assert changes.separators == 2
    assert changes.notes() == ["here: <|endoftext|> within 1 lines separates nothing"]


def test_stories_come_before_the_text_has_ended() -> None:
    def endless():
        while True:
            yield "again\n<|endoftext|>\n"

    found = stories(endless(), Changes("here"))
    assert [next(found) for _ in range(3)] == ["again"] * 3
