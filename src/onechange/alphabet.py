"""An alphabet: distinct characters in code-point order, and the id (the rank) of each."""

from collections.abc import Iterable

import numpy as np

MOST_NAMED = 5
"""How many of the characters outside an alphabet an error names, and how many places of each."""


class Alphabet:
    """The characters that a tokenizer can write. Character number i has the id i.

    A `ValueError` unless ``characters`` is at least one, all distinct, in code-point order.
    """

    def __init__(self, characters: str) -> None:
        if not characters:
            raise ValueError("the alphabet is empty: it needs at least one character")
        codes = _code_points(characters)
        if (np.diff(codes) <= 0).any():
            raise ValueError("the alphabet's characters must be distinct and in code-point order")
        if ((codes >= 0xD800) & (codes <= 0xDFFF)).any():
            raise ValueError("the alphabet holds a lone surrogate, which is no character")
        self.characters = characters
        self._codes = codes

    def __len__(self) -> int:
        return len(self.characters)

    def ids(self, text: str) -> np.ndarray:
        """The id of every character of ``text``: int32, shape [characters].

        A `ValueError` lists the characters that the alphabet lacks and where they stand.
        """
        codes = _code_points(text)
        ids = np.searchsorted(self._codes, codes)
        known = self._codes[np.minimum(ids, len(self._codes) - 1)] == codes
        if not known.all():
            raise ValueError(_outside(text, np.flatnonzero(~known).tolist()))
        return ids.astype(np.int32)


def _code_points(text: str) -> np.ndarray:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.int64)


def named(text: str, places: Iterable[int]) -> str:
    """The characters of ``text`` that stand at ``places``, each with where it stands; of many, the first."""
    found: dict[str, list[int]] = {}
    for place in places:
        found.setdefault(text[place], []).append(place)
    each = [f"{one!r} (U+{ord(one):04X}) at {_places(where)}" for one, where in found.items()]
    more = f" and {len(each) - MOST_NAMED} more" if len(each) > MOST_NAMED else ""
    return f"{', '.join(each[:MOST_NAMED])}{more}"


def _outside(text: str, places: list[int]) -> str:
    count = len({text[place] for place in places})
    one = count == 1
    return (
        f"{count} character{'' if one else 's'} outside the tokenizer's alphabet, "
        f"{'it was' if one else 'they were'} not in the corpus: {named(text, places)}; "
        f"positions count characters from 0; leave {'it' if one else 'them'} out or write something else"
    )


def _places(where: list[int]) -> str:
    first = ", ".join(map(str, where[:MOST_NAMED]))
    return first if len(where) <= MOST_NAMED else f"{first}, … ({len(where)} times)"
