"""How far a text agrees with the world, and how often it contradicts what it told itself.

The search is that of `onechange.storyworld.reading`, depth first along the text, but it wants the best way and not all:
first the ways without a contradiction, then those with one, with two, …; from one state it goes on only once. A reading
with the fewest contradictions is thus found first, and time grows with the states, not with the ways to reach them.
"""

from bisect import bisect
from collections.abc import Hashable
from dataclasses import dataclass
from itertools import takewhile
from operator import eq
from typing import NamedTuple

from onechange.storyworld.census import END
from onechange.storyworld.liberties import liberties, lost
from onechange.storyworld.machine import Fork, Point, advance, beginning, marked, state, upcoming
from onechange.storyworld.notation import Literal
from onechange.storyworld.reading import AHEAD
from onechange.storyworld.steps import Choice, Name


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A place in a text, counted in characters, where ``variable`` should be ``was`` and the text says ``said``."""

    position: int
    variable: str
    was: str
    said: str


@dataclass(frozen=True, slots=True)
class Checked:
    """What a text is worth in the world. All counts are in characters from its beginning."""

    parsed: int
    """So much of the text is also the beginning of a story; one character more is not."""
    whole: bool
    """All of it is; and where it claims to be a whole story, a story ends with it."""
    read: int
    """So much can be read where what was told may be contradicted."""
    contradictions: tuple[Contradiction, ...]
    """The fewest with which so much can be read."""


def check(start: Choice, text: str, ended: bool = False) -> Checked:
    """How far ``text`` agrees with the stories that ``start`` tells; ``ended``: it claims to be a whole one.

    A contradiction counts, and what comes behind it is read, only where its sentence can be read to the end. A word
    that is none, or a sentence that no rule tells, is thus never taken for a contradiction: there the reading ends.
    """
    search = _Search(text)
    whole = search.follow([_Place(beginning(start), 0, 0, frozenset(), None)], ended)
    parsed = search.reached
    while search.reached < len(text) and (places := search.contradicting()):
        search.follow(places)
    return Checked(parsed, whole, search.reached, tuple(search.contradictions()))


class _Place(NamedTuple):
    """Where a reading stands. ``settled``: the end of the sentence that holds its last contradiction.

    ``vague``: the variables that hold a word of which only such forms were said as other words have too. They cannot be
    contradicted: ``His name was Ben`` says no other name than before.
    """

    point: Point
    position: int
    settled: int
    vague: frozenset[str]
    trace: "_Trace"


_Trace = tuple["_Trace", Contradiction] | None


class _Search:
    """The search, one number of contradictions after the other: ``passed`` are the places seen with the latest."""

    def __init__(self, text: str) -> None:
        self.text, self.reached = text, 0
        self.passed: list[_Place] = []
        self._forks: list[_Place] = []
        self._ends = [*(found.end() for found in END.finditer(text)), len(text) + 1]
        self._seen: set[tuple[Hashable, ...]] = set()
        self._best: _Trace = None

    def follow(self, places: list[_Place], ended: bool = False) -> bool:
        """All that follows from ``places`` without a contradiction; whether a way leads to the end of the text.

        ``ended``: to the end of a story there.
        """
        self.passed, self._forks = [], []
        while places:
            point, position, settled, vague, trace = places.pop()
            while self.reached < len(self.text) or ended:
                if trace and lost(point):
                    break
                step = advance(point, self.text[position : position + AHEAD])
                if step is None:
                    if position == len(self.text) and ended:
                        return True
                    break
                place = _Place(point, position, settled, vague, trace)
                self.passed.append(place)
                if isinstance(step, Fork):
                    places += self._ways(place, step)
                    break
                if not self._agrees(place, step.text):
                    break
                point, position, vague = step.point, position + len(step.text), _vague(place)
        for place in self._forks:
            if place.position > self.reached - AHEAD:
                self._left_out(place)
        return self.reached == len(self.text) and not ended

    def contradicting(self) -> list[_Place]:
        """The places that one liberty leads to from those just passed."""
        found: list[_Place] = []
        for place in self.passed:
            position = place.position
            ahead = self.text[position : position + AHEAD]
            for (shown, following), *against in liberties(place.point, place.vague, ahead):
                if self.text.startswith(shown, position):
                    settled = self._ends[bisect(self._ends, position)]
                    trace = place.trace, Contradiction(position, *against)
                    found.append(_Place(following, position + len(shown), settled, _vague(place), trace))
        return found

    def contradictions(self) -> list[Contradiction]:
        """Those of the reading that leads farthest, in the order of the text."""
        found: list[Contradiction] = []
        trace = self._best
        while trace is not None:
            found.append(trace[1])
            trace = trace[0]
        return found[::-1]

    def _ways(self, place: _Place, fork: Fork) -> list[_Place]:
        """Where the ways lead whose text stands there; none where this state was met before."""
        point, position, settled, _, trace = place
        found = position, position < settled, place.vague, state(point)
        if found in self._seen:
            return []
        self._seen.add(found)
        self._forks.append(place)
        vague = _vague(place)
        ways = [fork.take(number) for number in fork.numbers]
        return [
            _Place(following, position + len(shown), settled, vague, trace)
            for shown, following in ways
            if self._agrees(place, shown)
        ]

    def _agrees(self, place: _Place, shown: str) -> bool:
        """Whether all of ``shown`` stands at ``place``; notes how far it does."""
        there = self.text[place.position : place.position + len(shown)]
        end = place.position + (len(shown) if there == shown else _common(there, shown))
        if end > self.reached and end >= place.settled:
            self.reached, self._best = end, place.trace
        return there == shown

    def _left_out(self, place: _Place) -> None:
        """Notes how far the text agrees with those ways of a fork that the letters ahead left out."""
        fork = advance(place.point)
        assert isinstance(fork, Fork)
        for number in fork.numbers:
            shown, following = fork.take(number)
            match upcoming(following):
                case (Literal(text), _, marks) if not shown:
                    shown = marked(text, marks)
                case _:
                    pass
            self._agrees(place, shown)


def _common(one: str, other: str) -> int:
    """How many letters two texts have in common at the beginning."""
    return sum(takewhile(bool, map(eq, one, other)))


def _vague(place: _Place) -> frozenset[str]:
    """The vague variables once the next step is done."""
    match upcoming(place.point):
        case (Name(variable, form, domain), _, _) if domain.tells(form):
            return place.vague - {variable}
        case (Name(variable), _, _) if variable not in place.point.known:
            return place.vague | {variable}
        case _:
            return place.vague
