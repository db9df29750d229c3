"""Where a piece of text ends: the loops behind `onechange.pieces`.

Text is UTF-8, and well-formed. A piece depends on the text from its own start on and on nothing before it.
"""

from typing import NamedTuple

import numpy as np

from onechange.compiled import compiled

OTHER, LETTER, DIGIT, SPACE, NEWLINE = range(5)
"""The classes that a cut tells apart; `NEWLINE` only where ends of lines are no mere white space."""

NO_CONTRACTION, CONTRACTION, CONTRACTION_OF_ANY_CASE = range(3)
NOTHING, ONE_SPACE, ANY_SIGN, ANY_VISIBLE_SIGN = range(4)
WHOLE, ALL_BUT_THE_LAST, LINES_FIRST = range(3)
_LONG_S = (0xC5, 0xBF)  # ſ, which is an s where case does not matter


class Rules(NamedTuple):
    """How text is cut: which of the patterns' parts there are."""

    contraction: int
    """`NO_CONTRACTION`, …: whether ``'s``, ``'ll``, … are pieces."""
    before_letters: int
    """`NOTHING`, …: which one character before a run of letters belongs to it."""
    most_digits: int
    """How many digits a piece may have; 0: any number."""
    space_before_digits: bool
    space_before_others: bool
    newlines_after_others: bool
    blanks: int
    """`WHOLE`, …: which part of a run of white space is one piece."""


@compiled
def class_at(text: np.ndarray, at: int, classes: np.ndarray) -> tuple[int, int]:
    """Class and length in bytes of the character that begins at ``at``."""
    first = text[at]
    if first < 0x80:
        return int(classes[first]), 1
    if first < 0xE0:
        return int(classes[((first & 0x1F) << 6) | (text[at + 1] & 0x3F)]), 2
    code = text[at + 1] & 0x3F
    if first < 0xF0:
        return int(classes[((first & 0x0F) << 12) | (np.int64(code) << 6) | (text[at + 2] & 0x3F)]), 3
    high = (np.int64(first & 0x07) << 18) | (np.int64(code) << 12)
    return int(classes[high | (np.int64(text[at + 2] & 0x3F) << 6) | (text[at + 3] & 0x3F)]), 4


@compiled
def run_end(text: np.ndarray, at: int, end: int, classes: np.ndarray, wanted: int) -> int:
    """Where the characters of the class ``wanted`` from ``at`` on end."""
    while at < end:
        found, length = class_at(text, at, classes)
        if found != wanted:
            break
        at += length
    return at


@compiled
def digits_end(text: np.ndarray, at: int, end: int, classes: np.ndarray, most: int) -> int:
    """Where the digits from ``at`` on end, or the first ``most`` of them."""
    if most == 0:
        return run_end(text, at, end, classes, DIGIT)
    for _ in range(most):
        if at >= end:
            break
        found, length = class_at(text, at, classes)
        if found != DIGIT:
            break
        at += length
    return at


@compiled
def contraction_end(text: np.ndarray, at: int, end: int, any_case: bool) -> int:
    """Where the contraction that begins with the apostrophe at ``at`` ends; ``at`` if it is none."""
    if at + 1 >= end:
        return at
    first = text[at + 1]
    second = text[at + 2] if at + 2 < end else np.uint8(0)
    if any_case:
        if first == _LONG_S[0] and second == _LONG_S[1]:
            return at + 3
        if 65 <= first <= 90:
            first += np.uint8(32)
        if 65 <= second <= 90:
            second += np.uint8(32)
    if first == 115 or first == 100 or first == 109 or first == 116:  # s d m t
        return at + 2
    if (first == 108 and second == 108) or ((first == 118 or first == 114) and second == 101):  # ll, ve, re
        return at + 3
    return at


@compiled
def blanks_end(text: np.ndarray, at: int, end: int, classes: np.ndarray, blanks: int) -> int:
    """Where the piece of white space that begins at ``at`` ends."""
    start, last, line_end = at, at, at
    while at < end:
        found, length = class_at(text, at, classes)
        if found != SPACE and found != NEWLINE:
            break
        last = at
        at += length
        if found == NEWLINE:
            line_end = at
    if blanks == WHOLE or at == end:
        return at
    if blanks == LINES_FIRST and line_end > start:
        return line_end
    return last if last > start else at


@compiled
def piece_end(text: np.ndarray, start: int, end: int, classes: np.ndarray, rules: Rules) -> int:
    """Where the piece that begins at ``start`` ends, in a text that ends at ``end``."""
    first = text[start]
    if first == 39 and rules.contraction != NO_CONTRACTION:
        after = contraction_end(text, start, end, rules.contraction == CONTRACTION_OF_ANY_CASE)
        if after > start:
            return after
    kind, length = class_at(text, start, classes)
    after = start + length
    if kind == LETTER:
        return run_end(text, after, end, classes, LETTER)
    if kind == DIGIT:
        return digits_end(text, start, end, classes, rules.most_digits)
    space = first == 32
    following = class_at(text, after, classes)[0] if after < end else SPACE
    if following == LETTER:
        before = rules.before_letters
        if (
            (before == ONE_SPACE and space)
            or (before == ANY_SIGN and kind != NEWLINE)
            or (before == ANY_VISIBLE_SIGN and kind == OTHER)
        ):
            return run_end(text, after, end, classes, LETTER)
    if space and following == DIGIT and rules.space_before_digits:
        return digits_end(text, after, end, classes, rules.most_digits)
    if kind == OTHER or (space and following == OTHER and rules.space_before_others):
        after = run_end(text, after, end, classes, OTHER)
        if rules.newlines_after_others:
            after = run_end(text, after, end, classes, NEWLINE)
        return after
    return blanks_end(text, start, end, classes, rules.blanks)


@compiled
def ends(
    text: np.ndarray,
    start: int,
    borders: np.ndarray,
    document: int,
    classes: np.ndarray,
    rules: Rules,
    found: np.ndarray,
) -> tuple[int, int]:
    """Write the ends of the pieces from ``start`` on into ``found``, as many as fit.

    ``borders``: where each document ends; ``start`` lies in number ``document``. How many pieces there are, and the
    number of the document in which the last one lies.
    """
    number = 0
    while document < len(borders) and number < len(found):
        if start == borders[document]:
            document += 1
            continue
        start = piece_end(text, start, borders[document], classes, rules)
        found[number] = start
        number += 1
    return number, document
