"""Several changes judged in one study: what is left of the verdicts when all of them shall be true at once.

Ten changes that do nothing, each judged at 5%, give a false verdict in up to four studies of ten. Holm's
step-down keeps that below 5% for the study as a whole, however the changes hang together: with the p-values
in order, p(1) ≤ … ≤ p(m), the adjusted one is

    p̃(i) = max over j ≤ i of min(1, (m − j + 1) · p(j))

and a change keeps its verdict where p̃ < 0.05 (Holm, A simple sequentially rejective multiple test procedure,
Scandinavian Journal of Statistics 6, 1979, https://www.jstor.org/stable/4615733).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from onechange.compare import ALPHA, Difference, Verdict


@dataclass(frozen=True)
class Holm:
    """One of the judged changes: its adjusted p, the verdict that is left, and how many changes there are."""

    p: float
    verdict: Verdict
    changes: int


def adjusted(p: Mapping[str, float]) -> dict[str, float]:
    """The p-values after Holm's correction, by the same names."""
    found, largest = {}, 0.0
    for place, name in enumerate(sorted(p, key=lambda name: p[name])):
        largest = max(largest, min(1.0, (len(p) - place) * p[name]))
        found[name] = largest
    return found


def correct(differences: Mapping[str, Difference]) -> dict[str, Holm]:
    """The judged ones among ``differences``, corrected for each other; those without a p are left out."""
    judged = {name: found.p for name, found in differences.items() if found.p is not None}
    return {
        name: Holm(p, differences[name].verdict if p < ALPHA else "no difference seen", len(judged))
        for name, p in adjusted(judged).items()
    }
