"""Texts met before: as a set of them would say."""

from hypothesis import given
from hypothesis import strategies as st

from onechange.seen import Seen


@given(st.lists(st.binary(max_size=3), max_size=60))
def test_a_text_is_new_once(texts: list[bytes]) -> None:
    seen, truth = Seen(), set()
    for text in texts:
        assert seen.add(text) == (text not in truth)
        truth.add(text)
    assert len(seen) == len(truth)


def test_none_is_forgotten_when_the_table_grows() -> None:
    seen = Seen()
    texts = [str(number).encode() for number in range(20_000)]
    assert all(seen.add(text) for text in texts)
    assert not any(seen.add(text) for text in texts)
    assert len(seen) == 20_000
