"""A menu: the ways on from a choice, sorted by how they begin, so that a reader need not try them all."""

from collections.abc import Iterable, Sequence

_LENGTH = 3


class Menu:
    """Ways with their weights and the text each begins with (its lead; ``""`` where that is not known yet)."""

    def __init__(self, weights: Sequence[int], leads: Sequence[str]) -> None:
        self.weights = tuple(weights)
        self.leads = tuple(leads)
        self.total = sum(weights)
        self._unknown = [number for number, lead in enumerate(leads) if len(lead) < _LENGTH]
        self._sorted: dict[str, list[int]] = {}
        for number, lead in enumerate(leads):
            if len(lead) >= _LENGTH:
                self._sorted.setdefault(lead[:_LENGTH].lower(), []).append(number)

    def numbers(self, ahead: str | None) -> Iterable[int]:
        """The ways, by number, that may begin with ``ahead`` (upper and lower case alike); ``None``: all of them."""
        if ahead is None:
            return range(len(self.weights))
        return (*self._unknown, *self._sorted.get(ahead[:_LENGTH].lower(), ()))
