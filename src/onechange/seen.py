"""Which texts were met before, in about 27 bytes of memory a text."""

from array import array
from hashlib import blake2b
from struct import unpack

_FIRST = 1 << 12
_FULLEST = 0.6


class Seen:
    """A set of texts by their digests of 128 bits: that two texts share one will not be met.

    A hash table of its own, since a set of Python takes a hundred bytes more for each of millions of texts.
    """

    def __init__(self) -> None:
        self._many = 0
        self._make(_FIRST)

    def __len__(self) -> int:
        return self._many

    def add(self, text: bytes) -> bool:
        """Whether ``text`` is new; it is not from now on."""
        high, low = unpack("<QQ", blake2b(text, digest_size=16).digest())
        if not self._put(high, low or 1):  # 0 marks an empty slot
            return False
        self._many += 1
        if self._many > _FULLEST * len(self._low):
            self._grow()
        return True

    def _put(self, high: int, low: int) -> bool:
        last = len(self._low) - 1
        slot = high & last
        while found := self._low[slot]:
            if found == low and self._high[slot] == high:
                return False
            slot = (slot + 1) & last
        self._high[slot], self._low[slot] = high, low
        return True

    def _grow(self) -> None:
        held = zip(self._high, self._low, strict=True)
        self._make(2 * len(self._low))
        for high, low in held:
            if low:
                self._put(high, low)

    def _make(self, slots: int) -> None:
        self._high, self._low = array("Q", bytes(8 * slots)), array("Q", bytes(8 * slots))
