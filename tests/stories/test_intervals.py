"""Intervals of story measures, against scipy, hand counts and simulation."""

import math

import numpy as np
import pytest
from scipy import stats

from onechange.stories.intervals import difference, distance, figure, over_seeds

SHARE, WORDS, AS_REAL = "hero_kept", "longest_loop", "length"


def checkpoint(measure, counts, of=None, prompts=None):
    counts = np.asarray(counts, dtype=float).tolist()
    of = [1] * len(counts) if of is None else list(of)
    prompts = [0] * len(counts) if prompts is None else list(prompts)
    measures = {measure: {"counts": counts, "of": of}}
    return {"nats_per_character": 1.0, "measures": {"prompts": prompts, "measures": measures}}


def test_samples_of_one_prompt_give_the_interval_of_a_plain_mean():
    counts = np.random.default_rng(1).normal(5, 2, 40)
    found = figure(checkpoint(WORDS, counts), WORDS)
    expected = stats.ttest_1samp(counts, 0).confidence_interval(0.95)
    assert found is not None and found.value == pytest.approx(counts.mean())
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    assert (found.error, found.stories) == (pytest.approx(stats.sem(counts)), 40)


def test_a_ratio_of_sums_by_hand():
    # R = 9/6; residuals (2 − 1.5·1, 7 − 1.5·5) / 3 = ±1/6; s² = 1/18; variance of R = 1/36.
    found = figure(checkpoint("unknown_words", [2, 0, 7], [1, 0, 5]), "unknown_words")
    assert found is not None and (found.value, found.stories) == (1.5, 2)
    assert found.error == pytest.approx(1 / 6)


def test_what_differs_between_prompts_is_no_chance():
    """Prompts with 3 and 2 stories: variances 1 and 0.5 within them, (3 · 1 + 2 · 0.5) / 25 of the mean."""
    found = figure(checkpoint(WORDS, [1, 2, 3, 100, 101], prompts=[0, 0, 0, 1, 1]), WORDS)
    assert found is not None and found.error == pytest.approx(0.4)
    assert found.high is not None
    assert found.high - found.value == pytest.approx(0.4 * stats.t.ppf(0.975, 3))
    alone = figure(checkpoint(WORDS, [1, 2, 3, 100], prompts=[0, 0, 0, 1]), WORDS)
    assert alone is not None and alone.error == pytest.approx(stats.sem([1, 2, 3, 100]))


@pytest.mark.parametrize("yes", [0, 1, 30, 64])
def test_a_share_of_stories_has_wilsons_interval(yes):
    found = figure(checkpoint(SHARE, [1] * yes + [0] * (64 - yes)), SHARE)
    expected = stats.binomtest(yes, 64).proportion_ci(method="wilson")
    assert found is not None
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=2e-3)


def test_a_share_counts_only_what_is_chance():
    """One prompt keeps its hero always, one in half of 32 stories. At a limit L, |p − L| / √(L (1 − L) / n) is 1.96,
    with so many stories n of one prompt as would have the variance that these have."""
    counts = [1] * 32 + [1, 0] * 16
    found = figure(checkpoint(SHARE, counts, prompts=[0] * 32 + [1] * 32), SHARE)
    assert found is not None and found.low is not None and found.high is not None
    n = 0.75 * 0.25 / (32 * (0.25 * 32 / 31) / 64**2)
    for limit in (found.low, found.high):
        assert abs(0.75 - limit) / math.sqrt(limit * (1 - limit) / n) == pytest.approx(1.96, abs=1e-3)


def test_where_nothing_applies_or_varies_nothing_is_said():
    assert figure(checkpoint(WORDS, [0, 0], [0, 0]), WORDS) is None
    found = figure(checkpoint(WORDS, [3, 3, 3]), WORDS)
    assert found is not None and (found.value, found.low, found.interval) == (3, None, "nothing")
    one = figure(checkpoint(WORDS, [3]), WORDS)
    assert one is not None and (one.low, one.error) == (None, 0)
    assert over_seeds([checkpoint(WORDS, [0], [0])], WORDS) is None
    assert difference([checkpoint(WORDS, [0], [0])], [checkpoint(WORDS, [1])], WORDS) is None


def test_seeds_are_a_paired_t_test():
    """Far apart as the runs are, sampling is nothing beside them."""
    rng = np.random.default_rng(2)
    levels = np.array([[10.0, 14, 11, 17], [20.0, 21, 26, 25]])
    arm, parent = ([checkpoint(WORDS, rng.normal(level, 0.1, 50)) for level in some] for some in levels)
    values = [
        [np.mean(run["measures"]["measures"][WORDS]["counts"]) for run in some] for some in (arm, parent)
    ]
    found = difference(arm, parent, WORDS)
    expected = stats.ttest_rel(values[0], values[1])
    assert found is not None and found.p == pytest.approx(expected.pvalue)
    interval = expected.confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))
    assert (found.word, found.interval, found.seeds) == ("better", "seeds and samples", 4)
    level = over_seeds(arm, WORDS)
    mean = stats.ttest_1samp(values[0], 0).confidence_interval(0.95)
    assert level is not None and (level.low, level.high) == pytest.approx((mean.low, mean.high))


def test_seeds_that_agree_by_luck_still_leave_the_chance_of_sampling():
    """Three times 40 of 64 kept against three times 44: no spread over seeds, and nothing is shown by it."""
    arm, parent = ([checkpoint(SHARE, [1] * yes + [0] * (64 - yes))] * 3 for yes in (40, 44))
    found = difference(arm, parent, SHARE)
    assert found is not None and found.word == "no difference seen"
    assert found.low is not None and found.low < 0 < (found.high or 0)


@pytest.mark.parametrize(
    ("measure", "up", "down"),
    [("hero_kept", "better", "worse"), ("longest_loop", "worse", "better"), ("length", "higher", "lower")],
)
def test_the_words_follow_the_measure(measure, up, down):
    rng = np.random.default_rng(4)
    low, high = ([checkpoint(measure, rng.normal(level, 0.1, 30)) for _ in range(3)] for level in (0.3, 0.6))
    for arm, parent, word in ((high, low, up), (low, high, down)):
        found = difference(arm, parent, measure)
        assert found is not None and found.word == word


@pytest.mark.parametrize("seeds", [1, 2])
def test_too_few_seeds_are_not_judged(seeds):
    """Their interval is that of two independent samples."""
    rng = np.random.default_rng(5)
    arm, parent = ([checkpoint(WORDS, rng.normal(level, 1, 4000)) for _ in range(seeds)] for level in (3, 9))
    found = difference(arm, parent, WORDS)
    assert found is not None and (found.word, found.p, found.interval) == (
        "one seed: not judged",
        None,
        "samples",
    )
    assert found.high is not None
    assert found.high - found.value == pytest.approx(1.96 * math.sqrt(2 / 4000 / seeds), rel=0.02)


def test_a_share_of_two_seeds_keeps_within_its_bounds():
    found = over_seeds([checkpoint(SHARE, [0] * 30), checkpoint(SHARE, [0] * 29 + [1])], SHARE)
    assert found is not None and found.low is not None and found.high is not None
    assert -1e-9 <= found.low <= found.value <= found.high < 0.15 and found.stories == 60


def test_distance_to_real_stories():
    """600 and 900 characters, where real stories have 700: nearer by 100, though one is below and one above."""
    rng = np.random.default_rng(6)
    arm, parent = ([checkpoint(AS_REAL, rng.normal(m, 20, 50)) for _ in range(3)] for m in (600, 900))
    found = distance(arm, parent, AS_REAL, 700.0)
    assert found is not None and found.value == pytest.approx(-100, abs=15) and found.word == "better"
    alone = distance(arm[:1], parent[:1], AS_REAL, 700.0)
    assert alone is not None and alone.low is not None and alone.high is not None
    half = 1.96 * math.sqrt(2 * 20**2 / 50)
    assert (alone.value - alone.low, alone.high - alone.value) == pytest.approx((half, half), rel=0.3)


def test_seeds_are_compared_in_pairs():
    with pytest.raises(ValueError, match="3 of the arm, 2 of its parent"):
        difference([checkpoint(WORDS, [1])] * 3, [checkpoint(WORDS, [1])] * 2, WORDS)


def _samples(rng, level):
    """Eight stories of each of 8 prompts; words a story differ, and so does how good one is at each prompt."""
    of = rng.integers(20, 160, 64)
    prompts = np.repeat(np.arange(8), 8)
    chance = np.clip(level * (0.5 + prompts / 7), 0, 1)
    return {
        "unknown_words": checkpoint("unknown_words", rng.binomial(of, chance), of, prompts),
        SHARE: checkpoint(SHARE, rng.binomial(1, chance), None, prompts),
        WORDS: checkpoint(WORDS, rng.geometric(1 / (1 + 10 * chance)) - 1, None, prompts),
    }


@pytest.mark.long
@pytest.mark.parametrize(
    ("measure", "level"), [("unknown_words", 0.02), (SHARE, 0.7), (SHARE, 0.05), (WORDS, 0.1)]
)
def test_intervals_over_samples_cover(measure, level):
    """The true figure lies within in about 95 of 100 checkpoints: counted over 2,000."""
    rng = np.random.default_rng(7)
    truth = 10 * level if measure == WORDS else level
    inside = 0
    for _ in range(2000):
        found = figure(_samples(rng, level)[measure], measure)
        assert found is not None
        inside += found.low is not None and found.high is not None and found.low <= truth <= found.high
    assert 0.925 <= inside / 2000 <= 0.985


@pytest.mark.long
@pytest.mark.parametrize(
    ("measure", "level", "seed_spread", "least"),
    [
        (SHARE, 0.4, 0.0, 0.03),
        (SHARE, 0.4, 0.1, 0.03),
        (SHARE, 0.02, 0.0, 0.005),  # a story or two of 64: all seeds are often the same
        (WORDS, 0.4, 0.0, 0.03),
        (WORDS, 0.4, 0.05, 0.03),
        ("unknown_words", 0.002, 0.0, 0.03),
    ],
)
def test_changes_that_do_nothing_are_seldom_judged(measure, level, seed_spread, least):
    """At most 6.5% of 2,000 studies of three seeds, whether seeds differ much or only samples do."""
    rng = np.random.default_rng(8)
    judged = 0
    for _ in range(2000):
        runs = [_samples(rng, level + seed_spread * rng.normal())[measure] for _ in range(6)]
        found = difference(runs[:3], runs[3:], measure)
        assert found is not None
        judged += found.word != "no difference seen"
    assert least <= judged / 2000 <= 0.065
