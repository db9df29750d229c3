"""What a text is made of before anything is merged: characters of an alphabet, or bytes."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import final

import numpy as np
from jaxtyping import Int32, Int64, UInt8

from onechange.alphabet import Alphabet

BYTES = 256


class Symbols(ABC):
    """The tokens that no merge made."""

    @property
    @abstractmethod
    def tokens(self) -> list[bytes]:
        """Their UTF-8, or part of it."""

    @abstractmethod
    def ids(
        self, text: UInt8[np.ndarray, " bytes"], ends: Int64[np.ndarray, " pieces"]
    ) -> tuple[Int32[np.ndarray, " symbols"], Int64[np.ndarray, " pieces"]]:
        """The ids of the symbols of UTF-8 ``text``, and where among them the pieces end that end at the bytes ``ends``.

        A `ValueError` if there is no symbol for a character.
        """


@final
class Characters(Symbols):
    """The characters of an alphabet, in its order."""

    def __init__(self, alphabet: Alphabet) -> None:
        self._alphabet = alphabet

    @property
    def tokens(self) -> list[bytes]:
        return [character.encode() for character in self._alphabet.characters]

    def ids(
        self, text: UInt8[np.ndarray, " bytes"], ends: Int64[np.ndarray, " pieces"]
    ) -> tuple[Int32[np.ndarray, " symbols"], Int64[np.ndarray, " pieces"]]:
        found = self._alphabet.ids(text.tobytes().decode())
        if len(found) == len(text):
            return found, ends
        begun = np.cumsum(text & 0xC0 != 0x80)
        return found, begun[ends - 1]


@final
class Bytes(Symbols):
    """The 256 bytes. ``ids``: the id of each; its value, unless given."""

    def __init__(self, ids: Sequence[int] = range(BYTES)) -> None:
        self._ids = np.array(ids, dtype=np.int32)

    @property
    def tokens(self) -> list[bytes]:
        return [bytes([value]) for value in range(BYTES)]

    def ids(
        self, text: UInt8[np.ndarray, " bytes"], ends: Int64[np.ndarray, " pieces"]
    ) -> tuple[Int32[np.ndarray, " symbols"], Int64[np.ndarray, " pieces"]]:
        return self._ids[text], ends
