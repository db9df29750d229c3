"""Texts rich in what patterns differ in: apostrophes, blanks of every kind, marks, numbers that are no digits."""

from hypothesis import strategies as st

CHARACTERS = (
    "abzAZéßſłž"  # letters; the long s, which is an s where case does not matter
    "stdmlrvSTDMLRVe'’"  # what contractions are made of
    "0129٣५½Ⅷ²〇"  # digits of three scripts; other numbers
    "   \t\n\n\r\x0b\x0c\x85\x1c\x1d\x1e\x1f\xa0\u1680\u2003\u2028\u2029\u202f\u3000"  # blanks
    "\u200b\u180e\ufeff\x00\x7f_-.,!?#&<|>"  # signs, and what is invisible but no blank
    "\u0301\u0338\u20dd\u0e33ाำ"  # marks
    "中文日本ー한각ㄱאبʰªǅⅿ"  # letters without case, marks of length, title case
    "😀🐟👩\u200d🏽\ufe0f🇩🇪"  # emoji and what they are put together from
    "𐐀𝟘𝒜𠀀\U0010fffd\ue000"  # other planes
)
WORDS = [
    "'s",
    "'S",
    "'ll",
    "'LL",
    "'lL",
    "'ve",
    "'Re",
    "'ſ",
    "'łs",
    "can't",
    "I'm",
    " the",
    "123456",
    "  ",
    "\r\n",
    " \n ",
]

pieces = st.one_of(st.sampled_from(CHARACTERS), st.sampled_from(WORDS))
texts = st.lists(pieces, max_size=30).map("".join)

anything = st.text(st.characters(exclude_categories=("Cn", "Cs")))
"""Over all characters that Python knows: what came into Unicode later is not of one class everywhere."""
