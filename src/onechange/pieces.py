"""How text is cut into pieces before anything is merged: no token reaches beyond its piece.

| split | |
|---|---|
| `classes` | runs of letters, of digits, of white space, of all else |
| `gpt2` | contractions, words, numbers and signs, each with the space before it; white space |
| `gpt4` | the same, but a word takes any sign before it, numbers go in threes, ends of lines close a piece |
| any other | a regular expression in the syntax of the library `regex`; what no match covers is a piece too |

The patterns are those of GPT-2 (https://github.com/openai/gpt-2, `encoder.py`) and of GPT-4's `cl100k_base` (in
https://github.com/openai/tiktoken, `tiktoken_ext/openai_public.py`). `classes` takes letters with numbers that are no
digits as one, and the four separators U+001C to U+001F as white space. A match of a pattern of one's own that is empty
cuts where it stands, as in `tokenizers`. No character is ever altered.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Literal, get_args

import numpy as np
import regex
from jaxtyping import Int64, UInt8

from onechange import cutting, unicode_classes
from onechange.cutting import Rules

Digits = Literal["pattern", "runs", "single", "triples"]
Space = Literal["pattern", "joined", "apart"]
NAMED = ("classes", "gpt2", "gpt4")

_MOST_DIGITS: dict[str, int] = {"runs": 0, "single": 1, "triples": 3}
_AT_ONCE = 1 << 18
Cut = tuple[UInt8[np.ndarray, " bytes"], int, Int64[np.ndarray, " pieces"]]


class Pieces:
    """One way to cut. ``digits`` and ``space`` change a named ``split``; ``"pattern"`` leaves them as it has them.

    ``digits``: whole runs, one by one, or groups of three from the left. ``space``: whether a space before a word
    belongs to it. A `ValueError` names a setting that is none, or that a pattern of one's own has no use for.
    """

    def __init__(self, split: str, digits: Digits = "pattern", space: Space = "pattern") -> None:
        for name, value, allowed in (("digits", digits, Digits), ("space", space, Space)):
            if value not in get_args(allowed):
                raise ValueError(
                    f"{name} = {value!r}: must be one of {', '.join(map(repr, get_args(allowed)))}"
                )
        self.split, self.digits, self.space = split, digits, space
        self.named = split in NAMED
        """Whether `rules` and `classes` say it all, so that compiled loops can cut."""
        if self.named:
            self.rules = _rules(split, digits, space)
            return
        for name, value in (("digits", digits), ("space", space)):
            if value != "pattern":
                raise ValueError(
                    f"{name} = {value!r}: split = {split!r} is a pattern of your own, which says that itself; "
                    f"the settings are for split = {', '.join(map(repr, NAMED))}"
                )
        try:
            self._pattern = regex.compile(split)
        except regex.error as error:
            raise ValueError(
                f"split = {split!r}: must be one of {', '.join(map(repr, NAMED))} or a regular expression: {error}"
            ) from None

    @property
    def regex(self) -> str:
        """The same as a regular expression, for `regex` and for `tokenizers`."""
        return _regex(self.split, self.rules) if self.named else self.split

    @cached_property
    def classes(self) -> UInt8[np.ndarray, " code_points"]:
        """The class of every code point, of those in `onechange.cutting`."""
        unicode = unicode_classes.classes()
        kinds = np.zeros(5, dtype=np.uint8)
        kinds[unicode_classes.SPACE] = cutting.SPACE
        kinds[unicode_classes.DIGIT] = cutting.DIGIT
        kinds[unicode_classes.LETTER] = cutting.LETTER
        kinds[unicode_classes.NUMBER] = cutting.LETTER if self.split == "classes" else cutting.DIGIT
        found = kinds[unicode]
        if self.split == "classes":
            found[0x1C:0x20] = cutting.SPACE
        if self.split == "gpt4":
            found[[0x0A, 0x0D]] = cutting.NEWLINE
        return found

    def cut(self, text: str) -> list[str]:
        """The pieces of ``text``, in order; together they are the text."""
        content = text.encode()
        starts = [0, *(end for _, _, ends in self.cuts([content]) for end in ends.tolist())]
        return [content[start:end].decode() for start, end in pairwise(starts)]

    def cuts(self, documents: Sequence[bytes]) -> Iterator[Cut]:
        """UTF-8 ``documents`` cut, some of their text at a time: no piece spans two of them.

        Each time a text, where in it the first piece begins, and where each piece ends. A document may come in several
        such parts, and several documents in one.
        """
        if not self.named:
            yield from map(self._cut_by_matches, documents)
            return
        text = np.frombuffer(b"".join(documents), dtype=np.uint8)
        borders = np.array([*accumulate(map(len, documents))], dtype=np.int64)
        start = document = 0
        while start < len(text):
            found = np.empty(min(_AT_ONCE, len(text) - start), dtype=np.int64)
            number, document = cutting.ends(text, start, borders, document, self.classes, self.rules, found)
            yield text, start, found[:number]
            start = int(found[number - 1])

    def _cut_by_matches(self, document: bytes) -> Cut:
        text = document.decode()
        places: list[int] = [0]
        for match in self._pattern.finditer(text):
            places += match.span()
        places.append(len(text))
        ends = np.array(places, dtype=np.int64)
        ends = ends[1:][np.diff(ends) > 0]
        content = np.frombuffer(document, dtype=np.uint8)
        if len(text) != len(document):
            begins = np.append(np.flatnonzero(content & 0xC0 != 0x80), len(document))
            ends = begins[ends]
        return content, 0, ends


def _rules(split: str, digits: Digits, space: Space) -> Rules:
    joined = space == "joined" or (space == "pattern" and split != "classes")
    most = _MOST_DIGITS.get(digits, 3 if split == "gpt4" else 0)
    if split == "gpt4":
        return Rules(
            contraction=cutting.CONTRACTION_OF_ANY_CASE,
            before_letters=cutting.ANY_SIGN if joined else cutting.ANY_VISIBLE_SIGN,
            most_digits=most,
            space_before_digits=False,
            space_before_others=joined,
            newlines_after_others=joined,
            blanks=cutting.LINES_FIRST if joined else cutting.WHOLE,
        )
    return Rules(
        contraction=cutting.CONTRACTION if split == "gpt2" else cutting.NO_CONTRACTION,
        before_letters=cutting.ONE_SPACE if joined else cutting.NOTHING,
        most_digits=most,
        space_before_digits=joined,
        space_before_others=joined,
        newlines_after_others=False,
        blanks=cutting.ALL_BUT_THE_LAST if joined else cutting.WHOLE,
    )


def _regex(split: str, rules: Rules) -> str:
    if split == "classes":
        letter, digit, blank = r"[\p{L}\p{Nl}\p{No}]", r"\p{Nd}", r"[\s\x1c-\x1f]"
        visible, other = r"[^\s\x1c-\x1f]", r"[^\s\x1c-\x1f\p{L}\p{N}]"
    else:
        letter, digit, blank, visible, other = r"\p{L}", r"\p{N}", r"\s", r"\S", r"[^\s\p{L}\p{N}]"
    contraction = ("", r"'(?:[sdmt]|ll|ve|re)|", r"'(?i:[sdmt]|ll|ve|re)|")[rules.contraction]
    before = ("", " ?", r"[^\r\n\p{L}\p{N}]?", r"[^\s\p{L}\p{N}]?")[rules.before_letters]
    digits = {0: f"{digit}+", 1: digit, 3: f"{digit}{{1,3}}"}[rules.most_digits]
    end = r"(?![\s\S])"
    blanks = (
        f"{blank}+",
        rf"{blank}+(?!{visible})|{blank}+",
        rf"{blank}+{end}|{blank}*[\r\n]|{blank}+(?!{visible})|{blank}+",
    )[rules.blanks]
    digits = " ?" * rules.space_before_digits + digits
    others = " ?" * rules.space_before_others + other + "+" + r"[\r\n]*" * rules.newlines_after_others
    return f"{contraction}{before}{letter}+|{digits}|{others}|{blanks}"
