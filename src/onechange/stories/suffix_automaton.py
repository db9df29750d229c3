"""The longest piece that ends at each place of one text and stands anywhere in another, however long that is.

The suffix automaton of a text is the smallest machine that accepts its substrings: at most 2 n states and 3 n edges
for n symbols (Blumer et al., The smallest automaton recognizing the subwords of a text, 1985,
https://doi.org/10.1016/0304-3975(85)90157-4). A state stands for the substrings that end at the same places. The
longest of them has its length, the others are its suffixes, down to one symbol longer than the longest of the state
that its link leads to.

The other text is read through it symbol by symbol. What the machine then has matched is the longest piece that ends
there and stands in the first text, and every state keeps how much of its substrings was ever matched. Whoever has a
match has one of all its suffixes, so that is handed up the links. Then the first text is read: at each place the
nearest state up the links that was matched tells the longest piece. Time is linear in both texts, memory in the first.
"""

import numpy as np
from jaxtyping import Int32, Integer

from onechange.compiled import compiled

BREAK = 0
"""The symbol that parts pieces of the first text; in the other it stands for all that the first has not."""
_NONE = -1
# While it is made, a state has a chain of edges.
_CHAIN, _LINK, _LENGTH, _ENDS = range(4)
_FROM, _BY, _TO, _NEXT = range(4)
# While it reads, a state holds its likeliest edge itself, and where the others lie in the table of edges: reading
# waits for memory, and so it mostly waits once for a symbol.
_FIRST_BY, _FIRST_TO, _OTHERS, _OTHERS_END, _UP, _LONGEST, _MATCHED = range(7)
_LINE = 8


class SuffixAutomaton:
    """Of a text of symbols: whole numbers from 0 on, `BREAK` between its pieces, fewer than 2²⁹ of them."""

    def __init__(self, text: Integer[np.ndarray, " symbols"]) -> None:
        self._text = text.astype(np.int32)
        states = np.empty((2 * len(text) + 1, 4), dtype=np.int32)
        edges = np.empty((3 * len(text) + 1, 4), dtype=np.int32)
        made, drawn = _build(self._text, states, edges)
        self._states, self._edges, self._root = _packed(states[:made], edges[:drawn])
        self._state, self._length = self._root, 0

    def read(self, text: Integer[np.ndarray, " symbols"]) -> None:
        """Read on in the other text, where the last call left off."""
        self._state, self._length = _read(
            text.astype(np.int32, copy=False),
            self._states,
            self._edges,
            self._root,
            self._state,
            self._length,
        )

    def longest(self) -> Int32[np.ndarray, " symbols"]:
        """For each place of the first text, how many symbols the longest piece has that ends with the symbol there and
        stood in what was read."""
        by_length = np.argsort(self._states[:, _LONGEST], kind="stable")
        return _longest(self._text, self._states, self._edges, self._root, by_length)


def _packed(
    states: Int32[np.ndarray, "states 4"], edges: Int32[np.ndarray, "edges 4"]
) -> tuple[Int32[np.ndarray, "states 8"], Int32[np.ndarray, "others 2"], int]:
    """States, edges and the number of the root as they are read: what is come by most often stands first."""
    by_length = np.argsort(states[:, _LENGTH], kind="stable")
    _hand_up_ends(states, by_length)
    order = np.argsort(-states[:, _ENDS], kind="stable")
    number = np.empty(len(states), dtype=np.int32)
    number[order] = np.arange(len(states), dtype=np.int32)
    sources, targets = number[edges[:, _FROM]], number[edges[:, _TO]]
    rows = np.lexsort((targets, sources))
    sources, targets, symbols = sources[rows], targets[rows], edges[rows, _BY]
    first = np.r_[True, sources[1:] != sources[:-1]][: len(rows)]

    packed = np.full((len(states), _LINE), _NONE, dtype=np.int32)
    packed[sources[first], _FIRST_BY] = symbols[first]
    packed[sources[first], _FIRST_TO] = targets[first]
    ends = np.bincount(sources[~first], minlength=len(states)).cumsum()
    packed[:, _OTHERS] = np.r_[0, ends[:-1]]
    packed[:, _OTHERS_END] = ends
    links = states[order, _LINK]
    packed[:, _UP] = np.where(links < 0, _NONE, number[links])
    packed[:, _LONGEST] = states[order, _LENGTH]
    packed[:, _MATCHED] = 0
    return packed, np.stack([symbols[~first], targets[~first]], axis=1), int(number[0])


@compiled
def _add_state(states: np.ndarray, state: int, link: int, length: int, ends: int) -> None:
    states[state, _CHAIN] = _NONE
    states[state, _LINK] = link
    states[state, _LENGTH] = length
    states[state, _ENDS] = ends


@compiled
def _add_edge(states: np.ndarray, edges: np.ndarray, edge: int, source: int, by: int, target: int) -> None:
    edges[edge, _FROM] = source
    edges[edge, _BY] = by
    edges[edge, _TO] = target
    edges[edge, _NEXT] = states[source, _CHAIN]
    states[source, _CHAIN] = edge


@compiled
def _edge(states: np.ndarray, edges: np.ndarray, state: int, symbol: int) -> int:
    edge = states[state, _CHAIN]
    while edge >= 0 and edges[edge, _BY] != symbol:
        edge = edges[edge, _NEXT]
    return edge


@compiled
def _build(text: np.ndarray, states: np.ndarray, edges: np.ndarray) -> tuple[int, int]:
    """Fill in states and edges, symbol by symbol as Blumer et al. do; returns how many there are."""
    _add_state(states, 0, _NONE, 0, 0)
    made, drawn, last = 1, 0, 0
    for symbol in text:
        new = made
        made += 1
        _add_state(states, new, 0, states[last, _LENGTH] + 1, 1)
        state, edge = last, _NONE
        while state >= 0:
            edge = _edge(states, edges, state, symbol)
            if edge >= 0:
                break
            _add_edge(states, edges, drawn, state, symbol, new)
            drawn += 1
            state = states[state, _LINK]
        if state >= 0:
            target = edges[edge, _TO]
            if states[target, _LENGTH] == states[state, _LENGTH] + 1:
                states[new, _LINK] = target
            else:  # of the target's substrings the shorter ones now end here too: they become a state of their own
                clone = made
                made += 1
                _add_state(states, clone, states[target, _LINK], states[state, _LENGTH] + 1, 0)
                copied = states[target, _CHAIN]
                while copied >= 0:
                    _add_edge(states, edges, drawn, clone, edges[copied, _BY], edges[copied, _TO])
                    drawn += 1
                    copied = edges[copied, _NEXT]
                while state >= 0:
                    edge = _edge(states, edges, state, symbol)
                    if edge < 0 or edges[edge, _TO] != target:
                        break
                    edges[edge, _TO] = clone
                    state = states[state, _LINK]
                states[target, _LINK] = clone
                states[new, _LINK] = clone
        last = new
    return made, drawn


@compiled
def _hand_up_ends(states: np.ndarray, by_length: np.ndarray) -> None:
    for at in range(len(by_length) - 1, 0, -1):
        state = by_length[at]
        states[states[state, _LINK], _ENDS] += states[state, _ENDS]


@compiled
def _follow(states: np.ndarray, edges: np.ndarray, state: int, symbol: int) -> int:
    """Where the edge of ``state`` by ``symbol`` leads; `_NONE` where there is none."""
    if states[state, _FIRST_BY] == symbol:
        return states[state, _FIRST_TO]
    for other in range(states[state, _OTHERS], states[state, _OTHERS_END]):
        if edges[other, 0] == symbol:
            return edges[other, 1]
    return _NONE


@compiled
def _read(
    text: np.ndarray, states: np.ndarray, edges: np.ndarray, root: int, state: int, length: int
) -> tuple[int, int]:
    for symbol in text:
        if symbol == BREAK:
            state, length = root, 0
            continue
        target = _follow(states, edges, state, symbol)
        while target < 0 and state != root:
            state = states[state, _UP]
            length = states[state, _LONGEST]
            target = _follow(states, edges, state, symbol)
        if target >= 0:
            state = target
            length += 1
            if length > states[state, _MATCHED]:
                states[state, _MATCHED] = length
    return state, length


@compiled
def _longest(
    text: np.ndarray, states: np.ndarray, edges: np.ndarray, root: int, by_length: np.ndarray
) -> np.ndarray:
    best = states[:, _MATCHED].copy()
    for at in range(len(by_length) - 1, 0, -1):
        state = by_length[at]
        if best[state] > 0:
            up = states[state, _UP]
            best[up] = states[up, _LONGEST]
    for at in range(1, len(by_length)):
        state = by_length[at]
        if best[state] == 0:
            best[state] = best[states[state, _UP]]
    found = np.empty(len(text), dtype=np.int32)
    state = root
    for at in range(len(text)):
        state = _follow(states, edges, state, text[at])
        found[at] = best[state]
    return found
