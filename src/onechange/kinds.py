"""What kind of text a character is: inside a word, a word's first letter, a name, a space, punctuation, a digit.

By the classes of Unicode and by how the text itself writes its words; no list of words of any language.

- A *word* is a run of letters with the marks on them. An apostrophe between two letters belongs to the word; a
  hyphen parts two words. Where letters have no case (Chinese, Hebrew) a word is a run of them just as well.
- A *name* is a word that begins with a capital and in this text stands so in mid-sentence (after another word, with
  nothing but a comma, a hyphen or spaces between) more often than it stands without its capital. One of its capitals
  must be followed by a small letter, which keeps out "I", "I'm" and "STOP". What follows an apostrophe belongs to
  the name if it has a capital ("O'Brien"), else not ("Lucy" in "Lucy's").
- All letters of a name are *names*; of any other word the first letter is *first letters*, the rest *inside words*.
- *Digits* are all numbers (categories Nd, Nl, No); *spaces* is all white space, separators and line breaks too.
- *Punctuation* is whatever is left: symbols and emoji too, and a mark that stands on no letter.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Literal, get_args

import numpy as np
from jaxtyping import UInt8

Kind = Literal["inside words", "first letters", "names", "spaces", "punctuation", "digits"]
KINDS: tuple[Kind, ...] = get_args(Kind)
_INSIDE, _FIRST, _NAME, _SPACE, _PUNCTUATION, _DIGIT = range(len(KINDS))

# Classes of characters, one letter each: a story is turned into its classes, and patterns are sought in those.
_CAPITAL, _LETTER, _MARK, _NUMBER, _BLANK, _BREAK = "A", "a", "m", "0", " ", "\n"
_APOSTROPHES, _HYPHENS, _OTHER = "'’", "-‐‑", "?"
_WORD = re.compile(r"[Aa][Aam]*(?:'[Aa][Aam]*)*")
_CAPITALISED = re.compile(r"Am*a")
_MID_SENTENCE = re.compile(r",? +|-")
_KIND_OF = np.full(128, _PUNCTUATION, dtype=np.uint8)
for _classes, _kind in ((_CAPITAL + _LETTER, _INSIDE), (_BLANK + _BREAK, _SPACE), (_NUMBER, _DIGIT)):
    _KIND_OF[list(_classes.encode())] = _kind


class _Classes(dict[int, str]):
    """A table for `str.translate` that knows a character's class from its first use on."""

    def __missing__(self, code: int) -> str:
        self[code] = _class(chr(code))
        return self[code]


def _class(character: str) -> str:
    category = unicodedata.category(character)
    if character.isspace():
        return _BREAK if len(f"{character}.".splitlines()) > 1 else _BLANK
    if category[0] in "LMN":
        return {"Lu": _CAPITAL, "Lt": _CAPITAL}.get(
            category, {"L": _LETTER, "M": _MARK, "N": _NUMBER}[category[0]]
        )
    if character in _APOSTROPHES:
        return "'"
    return "-" if character in _HYPHENS else "," if character == "," else _OTHER


_TABLE = _Classes()


def names(stories: Iterable[str]) -> frozenset[str]:
    """The names that ``stories`` use, as they write them."""
    capital: Counter[str] = Counter()
    small: Counter[str] = Counter()
    for story in stories:
        classes, before = story.translate(_TABLE), 0
        for start, end, stem in _words(story, classes):
            word = story[start:stem]
            if classes[start] != _CAPITAL:
                small[word] += 1
            elif (
                before
                and _CAPITALISED.search(classes, start, stem)
                and _MID_SENTENCE.fullmatch(classes, before, start)
            ):
                capital[word] += 1
            before = end
    return frozenset(word for word, times in capital.items() if times > small[word.lower()])


def of(story: str, names: frozenset[str]) -> UInt8[np.ndarray, " characters"]:
    """The kind of every character of ``story``, as its place in `KINDS`."""
    classes = story.translate(_TABLE)
    found = _KIND_OF[np.frombuffer(classes.encode("ascii"), dtype=np.uint8)]
    for start, end, stem in _words(story, classes):
        found[start:end] = _INSIDE
        found[start] = _FIRST
        if story[start:stem] in names:
            found[start:stem] = _NAME
    return found


def words(story: str) -> list[tuple[int, int]]:
    """Where each word of ``story`` begins and ends, in characters."""
    return [match.span() for match in _WORD.finditer(story.translate(_TABLE))]


def _words(story: str, classes: str) -> Iterator[tuple[int, int, int]]:
    """Where each word begins and ends, and where the part of it ends that may be a name."""
    for match in _WORD.finditer(classes):
        start, end = match.span()
        stem = classes.find("'", start, end)
        while stem >= 0 and classes[stem + 1] == _CAPITAL:
            stem = classes.find("'", stem + 1, end)
        yield start, end, end if stem < 0 else stem
