"""Which words stand nowhere in a training text, however long that is.

The text is read once. Each of its words is hashed and sought among the wanted ones; where a hash has a slot, the
letters are compared, so two words with one hash are never taken for each other. Memory is that of the wanted words.

A word is what `onechange.kinds` calls one, case-folded. Which characters it may consist of is asked of `kinds` itself,
once for every character that comes.
"""

from collections.abc import Iterable, Sequence

import numpy as np
from jaxtyping import UInt32

from onechange import kinds
from onechange.compiled import compiled

_CODE_POINTS = 0x110000
_UNSEEN, _OUTSIDE, _LETTER, _MARK, _APOSTROPHE = range(5)


class WantedWords:
    """Case-folded words that are sought in a text."""

    def __init__(self, words: Iterable[str]) -> None:
        self.words = sorted(set(words))
        self.stood = np.zeros(len(self.words), dtype=bool)
        """Which of `words` stood in what was read."""
        self._letters = code_points("".join(self.words))
        self._ends = np.cumsum([len(word) for word in self.words], dtype=np.int64)
        self._slots = np.full(1 << (2 * len(self.words) + 1).bit_length(), -1, dtype=np.int64)
        self._classes = np.full(_CODE_POINTS, _UNSEEN, dtype=np.uint8)
        _fill(self._letters, self._ends, self._slots)

    def read(self, stories: Sequence[str]) -> None:
        """Seek in ``stories``, of which no word spans two."""
        folded = [story.casefold() for story in stories]
        text = code_points("".join(folded))
        ends = np.cumsum([len(story) for story in folded], dtype=np.int64)
        self._classify(text)
        _seek(text, ends, self._classes, self._letters, self._ends, self._slots, self.stood)

    @property
    def missing(self) -> frozenset[str]:
        """Those that stood nowhere."""
        return frozenset(word for word, stood in zip(self.words, self.stood, strict=True) if not stood)

    def _classify(self, text: UInt32[np.ndarray, " characters"]) -> None:
        present = np.zeros(_CODE_POINTS, dtype=bool)
        present[text] = True
        for code in np.flatnonzero(present & (self._classes == _UNSEEN)).tolist():
            self._classes[code] = _part_of_a_word(chr(code))


def code_points(text: str) -> UInt32[np.ndarray, " characters"]:
    """``text`` as numbers."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")


def _part_of_a_word(character: str) -> int:
    if kinds.words(character):
        return _LETTER
    if kinds.words(f"a{character}") == [(0, 2)]:
        return _MARK
    return _APOSTROPHE if kinds.words(f"a{character}a") == [(0, 3)] else _OUTSIDE


@compiled
def _slot(
    text: np.ndarray, start: int, end: int, letters: np.ndarray, ends: np.ndarray, slots: np.ndarray
) -> int:
    """The slot of the word ``text[start:end]``, or the empty one where it would stand."""
    mixed = np.uint64(0xCBF29CE484222325)  # FNV-1a, a letter at a time
    for at in range(start, end):
        mixed = (mixed ^ np.uint64(text[at])) * np.uint64(0x100000001B3)
    last = len(slots) - 1
    slot = np.int64((mixed ^ (mixed >> np.uint64(32))) & np.uint64(last))
    while slots[slot] >= 0:
        word = slots[slot]
        first = ends[word - 1] if word > 0 else 0
        if ends[word] - first == end - start:
            same = 0
            while same < end - start and letters[first + same] == text[start + same]:
                same += 1
            if same == end - start:
                break
        slot = (slot + 1) & last
    return int(slot)


@compiled
def _fill(letters: np.ndarray, ends: np.ndarray, slots: np.ndarray) -> None:
    start = 0
    for word in range(len(ends)):
        slots[_slot(letters, start, ends[word], letters, ends, slots)] = word
        start = ends[word]


@compiled
def _seek(
    text: np.ndarray,
    story_ends: np.ndarray,
    classes: np.ndarray,
    letters: np.ndarray,
    ends: np.ndarray,
    slots: np.ndarray,
    stood: np.ndarray,
) -> None:
    at = 0
    for story_end in story_ends:
        while at < story_end:
            if classes[text[at]] != _LETTER:
                at += 1
                continue
            start = at
            while at < story_end:
                kind = classes[text[at]]
                if kind == _APOSTROPHE:
                    if at + 1 == story_end or classes[text[at + 1]] != _LETTER:
                        break
                elif kind != _LETTER and kind != _MARK:
                    break
                at += 1
            word = slots[_slot(text, start, at, letters, ends, slots)]
            if word >= 0:
                stood[word] = True
