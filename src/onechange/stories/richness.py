"""How many different words stories use, in ways that do not hang on how long or how many they are."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int

from onechange.stories.words import Words

STRETCH = 50
"""Words of a stretch."""
TOGETHER = 10
"""Stories whose stretches are put together."""


def within(words: Words) -> float | None:
    """The distinct words among `STRETCH` consecutive ones, the mean over all such stretches of the text; None where
    it has fewer words.

    Covington and McFall, Cutting the Gordian Knot: The Moving-Average Type–Token Ratio, Journal of Quantitative
    Linguistics 17, 2010, https://doi.org/10.1080/09296171003643098; theirs is this over `STRETCH`.
    """
    said = words.folded[words.first :]
    if len(said) < STRETCH:
        return None
    counts = Counter(said[:STRETCH])
    total = len(counts)
    for leaving, coming in zip(said, said[STRETCH:], strict=False):
        counts[coming] += 1
        counts[leaving] -= 1
        if not counts[leaving]:
            del counts[leaving]
        total += len(counts)
    return total / (len(said) - STRETCH + 1)


def between(stories: Sequence[Words]) -> dict[int, float]:
    """The distinct words among `STRETCH` × `TOGETHER`: the first of the texts of so many different stories.

    It is the mean over all choices of `TOGETHER` stories of those that have words enough, in closed form: the
    rarefaction curve of ecology, by whole samples (Gotelli and Colwell, Quantifying biodiversity, Ecology Letters 4,
    2001, https://doi.org/10.1046/j.1461-0248.2001.00230.x). So it does not grow with the number of stories. Returned
    is each story's part, by its place in ``stories``: the mean over them is that mean, and their spread over √N its
    standard error (they are jackknife pseudo-values; Arvesen, Jackknifing U-statistics, 1969,
    https://doi.org/10.1214/aoms/1177697287). No story has one where no more than `TOGETHER` have words enough.
    """
    said = {
        number: sorted(
            {*words.folded[words.first :][:STRETCH]}
        )  # in an order, so that sums are the same again
        for number, words in enumerate(stories)
        if words.count >= STRETCH
    }
    if (n := len(said)) <= TOGETHER:
        return {}
    in_stories = Counter(word for some in said.values() for word in some)
    times = np.array(list(in_stories.values()))
    whole = float(_chance(times, n).sum())
    # Without one story its words stand in one story less, and there is one story less to choose from.
    rest, less = _chance(times, n - 1), _chance(times - 1, n - 1)
    lost = dict(zip(in_stories, rest - less, strict=True))
    base = float(rest.sum())
    return {
        number: n * whole - (n - 1) * (base - sum(lost[word] for word in some))
        for number, some in said.items()
    }


def _chance(times: Int[np.ndarray, " words"], stories: int) -> Float[np.ndarray, " words"]:
    """That a word is among `TOGETHER` of ``stories``, if it stands in ``times`` of them."""
    drawn = np.arange(TOGETHER)
    without = np.clip(stories - times[:, None] - drawn, 0, None) / (stories - drawn)
    return 1 - without.prod(axis=1)
