"""A menu: the ways on from a choice, sorted by how they begin, so that a reader need not try them all."""

from bisect import bisect
from collections.abc import Sequence
from itertools import accumulate

_LENGTH = 3


class Menu:
    """Ways with their weights and the text each begins with (its lead; ``""`` where that is not known yet)."""

    def __init__(self, weights: Sequence[int], leads: Sequence[str]) -> None:
        self.weights = tuple(weights)
        self.leads = tuple(leads)
        self.total = sum(weights)
        self._reached = list(accumulate(weights))
        self._unknown = [number for number, lead in enumerate(leads) if len(lead) < _LENGTH]
        self._sorted: dict[str, list[int]] = {}
        for number, lead in enumerate(leads):
            if len(lead) >= _LENGTH:
                self._sorted.setdefault(lead[:_LENGTH].lower(), []).append(number)

    def pick(self, numbers: Sequence[int], place: float) -> int:
        """The way that ``place`` falls on when the weights of ``numbers``, in order, are laid end to end from 0."""
        if isinstance(numbers, range):
            return bisect(self._reached, place)
        for number in numbers:
            place -= self.weights[number]
            if place < 0:
                return number
        raise AssertionError("no way on, or a place that is not below the total weight")

    def numbers(self, ahead: str | None) -> Sequence[int]:
        """The ways, by number, that may begin with ``ahead`` (upper and lower case alike); ``None``: all of them."""
        if ahead is None:
            return range(len(self.weights))
        return (*self._unknown, *self._sorted.get(ahead[:_LENGTH].lower(), ()))
