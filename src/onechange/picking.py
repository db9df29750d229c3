"""The next token of every row, chosen by one uniform number each.

The settings act in transformers' order: repetition penalty, temperature, top-k, top-p, min-p. What is left is a row of
candidates from the likeliest down, ties in the order of their ids; the number picks by the inverse of their cumulative
distribution.
"""

import numpy as np
from jaxtyping import Bool, Float, Int

from onechange.compiled import compiled
from onechange.sampling import Sampling

MOST_BY_INSERTION = 256
"""Candidates up to which one pass that inserts is faster than sorting the whole vocabulary."""


def pick(
    scores: Float[np.ndarray, "rows vocabulary"],
    draws: Float[np.ndarray, " rows"],
    sampling: Sampling,
    written: Bool[np.ndarray, "rows vocabulary"] | None = None,
) -> Int[np.ndarray, " rows"]:
    """A token for every row. ``draws`` are uniform in [0, 1); ``written`` marks the tokens of a row's text so far and
    is needed where there is a repetition penalty."""
    ids, weights = _left(scores, sampling, written)
    reached = weights.cumsum(axis=1)
    place = (reached <= draws[:, None] * reached[:, -1:]).sum(axis=1)
    last = np.count_nonzero(weights, axis=1) - 1
    return ids[np.arange(len(ids)), np.minimum(place, last)]


def shares(
    scores: Float[np.ndarray, "rows vocabulary"],
    sampling: Sampling,
    written: Bool[np.ndarray, "rows vocabulary"] | None = None,
) -> Float[np.ndarray, "rows vocabulary"]:
    """How likely `pick` is to choose each token, the settings applied: float64, 0 for those that may not follow."""
    ids, weights = _left(scores, sampling, written)
    found = np.zeros(scores.shape)
    np.put_along_axis(found, ids, weights / weights.sum(axis=1, keepdims=True), axis=1)
    return found


def _left(
    scores: Float[np.ndarray, "rows vocabulary"],
    sampling: Sampling,
    written: Bool[np.ndarray, "rows vocabulary"] | None,
) -> tuple[Int[np.ndarray, "rows candidates"], Float[np.ndarray, "rows candidates"]]:
    """What `candidates` are once there is a penalty; at temperature 0 the likeliest alone."""
    if sampling.repetition_penalty != 1:
        assert written is not None, "the penalty is on what was written"
        scores = penalised(scores, written, sampling.repetition_penalty)
    if sampling.temperature == 0:
        return _likeliest(scores, 1), np.ones((len(scores), 1))
    return candidates(scores, sampling)


def candidates(
    scores: Float[np.ndarray, "rows vocabulary"], sampling: Sampling
) -> tuple[Int[np.ndarray, "rows candidates"], Float[np.ndarray, "rows candidates"]]:
    """The ids that may follow in every row, the likeliest first, and their probabilities over the likeliest's.

    Those that top-p or min-p rule out come last, with probability 0. The temperature is above 0.
    """
    ids = _likeliest(scores, min(sampling.top_k, scores.shape[1]))
    found = np.take_along_axis(scores, ids, axis=1)
    behind = found.astype(np.float64) - found[:, :1]
    with np.errstate(over="ignore"):  # near temperature 0 all but the likeliest are infinitely far behind
        weights = np.exp(behind / sampling.temperature)
    if sampling.top_p < 1:
        before = weights.cumsum(axis=1) - weights
        weights[before >= sampling.top_p * weights.sum(axis=1, keepdims=True)] = 0
    if sampling.min_p > 0:
        weights[weights < sampling.min_p] = 0
    return ids, weights


def penalised(
    scores: Float[np.ndarray, "rows vocabulary"], written: Bool[np.ndarray, "rows vocabulary"], penalty: float
) -> Float[np.ndarray, "rows vocabulary"]:
    """``scores`` with those of the ``written`` tokens made smaller by a ``penalty`` above 1, greater by one below."""
    changed = scores.copy()
    own = changed[written]
    changed[written] = np.where(own < 0, own * penalty, own / penalty)
    return changed


def _likeliest(scores: Float[np.ndarray, "rows vocabulary"], number: int) -> Int[np.ndarray, "rows number"]:
    """The ids of the greatest scores of every row, from the greatest down; of equal ones the lower id first."""
    if number > MOST_BY_INSERTION:
        return np.argsort(-scores, axis=1, kind="stable")[:, :number]
    ids = np.empty((len(scores), number), np.int64)
    _insert(np.ascontiguousarray(scores), ids)
    return ids


@compiled
def _insert(scores: np.ndarray, ids: np.ndarray) -> None:
    """Fill every row of ``ids`` in one pass over its scores; what is no number counts as the least there is."""
    number = ids.shape[1]
    best = np.empty(number, scores.dtype)
    for row in range(len(scores)):
        filled = 0
        for token in range(scores.shape[1]):
            score = scores[row, token]
            if not score >= -np.inf:
                score = scores.dtype.type(-np.inf)
            if filled == number:
                if not score > best[number - 1]:
                    continue
                filled -= 1
            at = filled
            while at > 0 and score > best[at - 1]:
                best[at], ids[row, at] = best[at - 1], ids[row, at - 1]
                at -= 1
            best[at], ids[row, at] = score, token
            filled += 1
