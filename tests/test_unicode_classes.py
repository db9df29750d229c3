"""The table of classes, against Python's own tables and against the engine of tiktoken."""

import sys
import unicodedata

import pytest
import tiktoken

from onechange import unicode_classes
from onechange.unicode_classes import DIGIT, LETTER, NUMBER, OTHER, SPACE

CHARACTERS = [code for code in range(sys.maxunicode + 1) if not 0xD800 <= code <= 0xDFFF]


def by_category(character: str) -> int:
    category = unicodedata.category(character)
    if character.isspace():
        return OTHER if "\x1c" <= character <= "\x1f" else SPACE  # separators have no White_Space in Unicode
    if category == "Nd":
        return DIGIT
    return NUMBER if category in ("Nl", "No") else LETTER if category[0] == "L" else OTHER


def test_assigned_characters_are_of_the_class_that_python_knows():
    found = unicode_classes.classes()
    assert len(found) == sys.maxunicode + 1
    assigned = [code for code in CHARACTERS if unicodedata.category(chr(code)) != "Cn"]
    assert len(assigned) > 280_000
    assert [code for code in assigned if found[code] != by_category(chr(code))] == []


@pytest.mark.parametrize(
    ("pattern", "wanted"),
    [
        (r"\p{L}", {LETTER}),
        (r"\p{Nd}", {DIGIT}),
        (r"\p{Nl}|\p{No}", {NUMBER}),
        (r"\p{N}", {DIGIT, NUMBER}),
        (r"\s", {SPACE}),
        (r"[^\s\p{L}\p{N}]", {OTHER}),
    ],
)
def test_every_character_is_of_the_class_that_tiktoken_knows(pattern: str, wanted: set[int]):
    """An encoding of single bytes writes what its pattern matches and drops the rest."""
    plain = tiktoken.Encoding(
        "bytes",
        pat_str=pattern,
        mergeable_ranks={bytes([value]): value for value in range(256)},
        special_tokens={},
    )
    text = "".join(map(chr, CHARACTERS))
    matched = bytes(plain.encode_ordinary(text)).decode()
    found = unicode_classes.classes()
    assert matched == "".join(chr(code) for code in CHARACTERS if int(found[code]) in wanted)


def test_halves_of_characters_are_of_no_class():
    assert not unicode_classes.classes()[0xD800:0xE000].any()


def test_the_table_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        unicode_classes.classes()[0] = 1
