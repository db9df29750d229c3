"""A growing text against the whole text that its tokens are: where it ends, and that nothing is shown too early."""

import codecs

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from onechange.growing_text import GrowingText
from onechange.sampling import Sampling
from onechange.tokenizer import Tokenizer
from onechange.tokenizer.byte import Byte
from small_models import bpe

MERGED = bpe(["abab\n\nab a\nb", "aabb\n\n"], 12)
STOPS = st.lists(st.text("ab\n", min_size=1, max_size=4), max_size=3)


def whole_text(tokenizer: Tokenizer, ids: list[int]) -> str:
    """All of ``ids`` as text at once; a character that is not finished at the end is left out."""
    content = b"".join(tokenizer.token_bytes()[number] for number in ids)
    return codecs.getincrementaldecoder("utf-8")("replace").decode(content)


def plainly(text: str, stop: list[str], characters: int | None) -> tuple[str, bool]:
    """``text`` up to the first stop string that is complete, or to the budget; and whether it was a stop string."""
    for length in range(1, len(text) + 1):
        ends = [sign for sign in stop if text[:length].endswith(sign)]
        if ends:
            return text[: length - max(map(len, ends))], True
        if length == characters:
            return text[:length], False
    return text, False


def check(tokenizer: Tokenizer, ids: list[int], sampling: Sampling) -> None:
    growing, shown = GrowingText(tokenizer, sampling), ""
    for place, number in enumerate(ids):
        if growing.complete:
            break
        shown += growing.append(number)
        if not growing.complete:
            so_far = whole_text(tokenizer, ids[: place + 1])
            held = so_far.removeprefix(shown)
            assert shown + held == so_far
            assert not held or any(sign.startswith(held) and sign != held for sign in sampling.stop)
    assert growing.text == shown, "what was shown once is not taken back"
    text = whole_text(tokenizer, ids)
    expected, stopped = plainly(text, sampling.stop, sampling.characters)
    assert growing.stopped == stopped
    assert growing.complete == (
        stopped or len(ids) == sampling.tokens or len(text) >= (sampling.characters or len(text) + 1)
    )
    if growing.complete:
        assert shown == expected


@given(
    st.lists(st.integers(0, MERGED.vocabulary_size - 1), min_size=1, max_size=30), STOPS, st.integers(1, 25)
)
@example([MERGED.token_bytes().index(b"\n\n")], ["\n"], 5)
def test_stop_strings_and_budgets_do_not_care_where_tokens_end(ids: list[int], stop: list[str], most: int):
    check(MERGED, ids, Sampling(tokens=len(ids), stop=stop))
    check(MERGED, ids, Sampling(characters=most, stop=stop))


odd = st.lists(st.sampled_from([*"小é🐟a\n".encode(), *b"ab\xff"]), max_size=8)
texts = st.lists(st.sampled_from(["小", "é", "🐟", "a", "\n"]), max_size=8)
bytes_ = st.tuples(texts, odd, texts).map(
    lambda parts: [*"".join(parts[0]).encode(), *parts[1], *"".join(parts[2]).encode()]
)


@given(bytes_.filter(len), st.lists(st.text("a\n小é", min_size=1, max_size=3), max_size=2), st.integers(1, 9))
def test_half_a_character_is_never_shown(ids: list[int], stop: list[str], most: int):
    """Bytes that are no text at all become U+FFFD, as `Tokenizer.decode` has it."""
    check(Byte(), ids, Sampling(tokens=len(ids), stop=stop))
    ids = ids[: 4 * most]
    check(Byte(), ids, Sampling(characters=most, stop=stop))


def test_the_stop_string_that_is_complete_first_ends_the_text():
    tokens = [*b"xabcd"]
    for stop, text in ((["abcd", "c"], "xab"), (["bc", "abc"], "x"), (["abcde", "d"], "xabc")):
        growing = GrowingText(Byte(), Sampling(tokens=9, stop=stop))
        shown = [growing.append(token) for token in tokens[: 5 if "d" in stop else 4]]
        assert (growing.text, growing.stopped, growing.complete) == (text, True, True)
        assert "".join(shown) == text


def test_tokens_without_text_do_not_make_a_text_endless(monkeypatch: pytest.MonkeyPatch):
    """The longest characters have four bytes: more tokens than that for each have no text."""
    monkeypatch.setattr(Byte, "token_bytes", lambda self: [b""] * 256)
    growing = GrowingText(Byte(), Sampling(characters=3))
    while not growing.complete and growing.tokens < 99:
        assert growing.append(0) == ""
    assert (growing.tokens, growing.text, growing.stopped) == (12, "", False)
