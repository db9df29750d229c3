"""Parting documents into training and validation text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onechange.splitting import Rule, part, shorten, split


@given(st.integers(10, 200))
def test_every_tenth_document_is_validation(count: int) -> None:
    documents = [str(number) for number in range(1, count + 1)]
    parts = split(documents)
    assert parts.validation == tuple(text for text in documents if text.endswith("0"))
    assert sorted([*parts.training, *parts.validation], key=int) == documents
    assert not parts.notes


@pytest.mark.parametrize("count", [2, 9])
def test_few_documents_leave_the_last_one(count: int) -> None:
    documents = [str(number) for number in range(count)]
    parts = split(documents)
    assert (parts.training, parts.validation) == (tuple(documents[:-1]), (documents[-1],))
    assert parts.notes == [f"only {count} documents: the last one alone is the validation text"]


@given(st.integers(10, 400), st.sampled_from([0.05, 0.1, 0.2, 0.25, 0.3, 0.45, 0.5]))
def test_a_test_part_has_its_share_and_leaves_validation_alone(count: int, share: float) -> None:
    documents = [str(number) for number in range(1, count + 1)]
    if count * share < 2:
        return
    parts = split(documents, share)
    assert parts.validation == split(documents).validation
    assert sorted([*parts.training, *parts.validation, *parts.test], key=int) == documents
    # Evenly: no beginning of the text holds more or less than its share, up to one document.
    for end in range(9, count + 1, 10):
        held = sum(int(text) <= end for text in parts.test)
        assert abs(held - share / 0.9 * (end - end // 10)) <= 1


def test_a_tenth_for_the_test_is_the_document_before_validation() -> None:
    assert [number for number in range(1, 51) if Rule(0.1).part(number) == "test"] == [9, 19, 29, 39, 49]


@pytest.mark.parametrize(
    ("documents", "test", "message"),
    [
        (["a"] * 5, 0.1, "5 documents are too few"),
        (["a"] * 20, 0.01, "of 20 documents that is none"),
        (["ab"], 0.1, "too short"),
    ],
)
def test_too_little_for_a_test(documents: list[str], test: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        split(documents, test)


def test_a_running_text_is_parted_twice_and_keeps_its_validation() -> None:
    text = " ".join(f"word{number}" for number in range(1000))
    parts = split([text], 0.2)
    assert parts.validation == split([text]).validation
    assert " ".join([*parts.training, *parts.test, *parts.validation]) == text
    assert abs(len(parts.test[0]) / len(text) - 0.2) < 0.005


@given(st.text(alphabet="ab.\n ", min_size=2).map(str.strip).filter(lambda text: len(text) > 1))
def test_only_white_space_is_lost_at_the_cut(text: str) -> None:
    training, validation = part(text)
    assert training and validation
    assert text.startswith(training)
    assert text.endswith(validation)
    assert not text[len(training) : len(text) - len(validation)].strip()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a.\n\n", "b c.\nd e. f g"),
        ("a b\n", "c d. e f g"),
        ("a b. ", "c d e f"),
        ("a b c d e ", "f"),
    ],
    ids=["paragraph", "line", "sentence", "word"],
)
def test_the_cut_is_at_the_strongest_break(before: str, after: str) -> None:
    text = "x" * 880 + before + after + "y" * (120 - len(before + after))
    training, validation = part(text)  # weaker breaks stand nearer to the place aimed at, the 900th character
    assert training == "x" * 880 + before.rstrip()
    assert validation.startswith(after)


def test_about_a_tenth_is_validation() -> None:
    text = " ".join(["word"] * 1000)
    _, validation = part(text)
    assert abs(len(validation) / len(text) - 0.1) < 0.005


def test_text_without_a_break_is_cut_all_the_same() -> None:
    assert tuple(map(len, part("x" * 100))) == (90, 10)
    assert part("ab") == ("a", "b")


def test_shorten_keeps_whole_words() -> None:
    assert shorten("one two three", 5) == "one two"
    assert shorten("one two three", 7) == "one two"
    assert shorten("one two three", 9) == "one two three"
    assert shorten("one two three", 99) == "one two three"
