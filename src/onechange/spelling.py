"""How surprised a model is at every single character, whatever its tokens are: tokens spelled out.

A token is read one byte after the other. Given the first k − 1 of its bytes, the model holds the next one for as
likely as all tokens that begin with the first k, among all that begin with the first k − 1:

    surprise at byte k = −ln ( Σ p(tokens that begin with the first k) / Σ p(those with the first k − 1) )

The last byte also bears that the token ends there: p(token) / Σ p(tokens that begin with all of it). A character's
surprise is that of its bytes, whether they are in one token or in several. The product telescopes: within a token only
the beginnings that end with a character are looked up, and all surprises add up to the tokens'. Only probabilities are
added, so nothing cancels. Tokens with a common beginning are neighbours in the sorted vocabulary, so each sum is over a
stretch of it.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import takewhile

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from onechange.model import Model
from onechange.token_table import begins, token_table

_PROBABILITIES = 1 << 21
"""How many are held at a time, float64: 16 MiB."""
_Branches = tuple[Int[np.ndarray, " bounds"], Int[np.ndarray, " branches"]]


class Spelling:
    """Of a vocabulary: ``tokens`` are the bytes of every id.

    A *part* of a token is what it has of one character: the bytes up to where the next one begins.
    """

    def __init__(self, tokens: Sequence[bytes]) -> None:
        self._order = sorted(range(len(tokens)), key=tokens.__getitem__)
        self._sorted = [tokens[number] for number in self._order]
        self._tokens = tokens
        table = token_table(tokens)
        self._inside, self._parts = table.inside, table.characters + table.inside
        self._known: dict[int, _Branches] = {}

    @torch.no_grad()
    def surprises(
        self,
        model: Model,
        features: Float[Tensor, "tokens width"],
        ids: Int[np.ndarray, " tokens"],
        nats: Float[np.ndarray, " tokens"],
    ) -> Float[np.ndarray, " characters"]:
        """The surprise at every character of ``ids`` in nats, float64; they add up to the ``nats`` of the tokens.

        The first is that of the character that began before ``ids``: 0.0 unless the first token begins inside it.
        ``features`` are the model's, from which each token was predicted. Of tokens of one part nothing is computed.
        """
        parts = self._parts[ids]
        assert (parts > 0).all(), "a token without a byte has no place for its surprise"
        found = nats if (parts == 1).all() else self._of_parts(model, features, ids, nats)
        begin = np.ones(len(found), dtype=bool)
        begin[(parts.cumsum() - parts)[self._inside[ids]]] = False
        return np.bincount(begin.cumsum(), found, int(begin.sum()) + 1)

    def _of_parts(
        self,
        model: Model,
        features: Float[Tensor, "tokens width"],
        ids: Int[np.ndarray, " tokens"],
        nats: Float[np.ndarray, " tokens"],
    ) -> Float[np.ndarray, " parts"]:
        lengths = self._parts[ids]
        ends = lengths.cumsum()
        found = np.zeros(int(ends[-1]) if len(ends) else 0)
        found[ends - 1] = nats  # so far the surprise at all up to here
        longer = np.flatnonzero(lengths > 1)
        order = torch.tensor(self._order)
        rows = max(1, _PROBABILITIES // len(self._order))
        for at in range(0, len(longer), rows):
            some = longer[at : at + rows]
            logits = model.logits(features[torch.from_numpy(some)])
            likely = torch.softmax(logits[:, order].double(), dim=-1).numpy()
            sums, spans = self._beginnings(likely, ids[some])
            up_to = np.repeat(-np.log(np.maximum(sums, np.finfo(np.float64).tiny)), spans)
            most = np.repeat(nats[some], lengths[some] - 1)  # the ruler's own, of which this is a part
            found[_all_but_last(ends[some], lengths[some])] = np.minimum(up_to, most)
        starts = ends - lengths
        before = np.roll(found, 1)
        before[starts] = 0
        return found - before

    def _beginnings(
        self, likely: Float[np.ndarray, "tokens vocabulary"], ids: Int[np.ndarray, " tokens"]
    ) -> tuple[Float[np.ndarray, " sums"], Int[np.ndarray, " sums"]]:
        """Σ p of all tokens that begin as each of ``ids`` does, and for how many of its parts each sum stands.

        In the order of the text; the sums of one token together stand for all its parts but the last.
        """
        branches = [self._branches(token) for token in ids.tolist()]
        each = np.array([len(spans) for _, spans in branches])
        places = np.concatenate([places for places, _ in branches])
        places += np.repeat(np.arange(len(ids)) * likely.shape[1], 2 * each)
        # One more number, so that a stretch may end where all end; every second sum is of what lies between two.
        sums = np.add.reduceat(np.append(likely.ravel(), 0.0), places)[::2]
        return sums, np.concatenate([spans for _, spans in branches])

    def _branches(self, token: int) -> _Branches:
        """Where the tokens that begin as this one does lie in the sorted vocabulary: first, end, first, end, …

        One pair for every beginning that tells it from others, and for how many of its parts each stands.
        """
        if token not in self._known:
            text = self._tokens[token]
            ends = (np.flatnonzero(begins(text)[1:]) + 1).tolist()  # of its parts, but for the last
            places, spans = [], []
            first, end, reached = 0, len(self._sorted), 0
            while reached < len(ends):
                size = ends[reached]
                beginning = text[:size]
                first = bisect_left(self._sorted, beginning, first, end)
                end = bisect_right(self._sorted, beginning, first, end, key=lambda other: other[:size])
                both = zip(self._sorted[first], self._sorted[end - 1], strict=False)
                common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], both))
                until = bisect_right(ends, common)
                places += [first, end]
                spans.append(until - reached)
                reached = until
            self._known[token] = np.array(places), np.array(spans)
        return self._known[token]


def _all_but_last(ends: Int[np.ndarray, " tokens"], lengths: Int[np.ndarray, " tokens"]) -> np.ndarray:
    """The places of all parts but the last of each token, of ``lengths`` of at least 2, that ends at ``ends``."""
    less = lengths - 1
    within = np.arange(less.sum()) - np.repeat(less.cumsum() - less, less)
    return np.repeat(ends - lengths, less) + within
