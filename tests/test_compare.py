"""The statistics of a comparison, against scipy, hand counts and simulation."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from onechange.compare import Scores, difference, interval_over_stories, level


def scores(nats, characters=None) -> Scores:
    nats = np.asarray(nats, dtype=np.float64)
    return Scores(nats, np.asarray(characters if characters is not None else np.full(len(nats), 10)))


def test_ratio_of_sums_by_hand():
    # R = 9/6; residuals (2 − 1.5·1, 7 − 1.5·5) / 3 = ±1/6; s² = 1/18; variance of R = 1/36; t(1) = 12.706.
    value, low, high = interval_over_stories(np.array([2.0, 7.0]), np.array([1, 5]))
    assert value == 1.5
    assert low == pytest.approx(1.5 - 12.7062047 / 6) and high == pytest.approx(1.5 + 12.7062047 / 6)


def test_equal_stories_give_the_interval_of_a_plain_mean():
    nats = np.random.default_rng(1).normal(13.0, 2.0, 40)
    value, low, high = interval_over_stories(nats, np.full(40, 10))
    expected = stats.ttest_1samp(nats / 10, 0).confidence_interval(0.95)
    assert value == pytest.approx((nats / 10).mean())
    assert (low, high) == pytest.approx((expected.low, expected.high))


def test_scaling_of_stories_that_are_alike_leaves_no_interval():
    value, low, high = interval_over_stories(np.array([2.0, 4.0, 10.0]), np.array([1, 2, 5]))
    assert (value, low, high) == (2.0, pytest.approx(2.0), pytest.approx(2.0))


def test_one_story_has_no_interval_over_text():
    assert interval_over_stories(np.array([12.0]), np.array([10])) == (1.2, None, None)


def test_seeds_alone_are_a_paired_t_test():
    """Where every story moves alike the stories add nothing: what is left is scipy's paired t over seeds."""
    characters = np.array([100, 300, 600])
    arm_ratios, parent_ratios = [1.05, 1.07, 1.04, 1.06], [1.10, 1.09, 1.11, 1.08]
    found = difference(
        [scores(r * characters, characters) for r in arm_ratios],
        [scores(r * characters, characters) for r in parent_ratios],
    )
    expected = stats.ttest_rel(arm_ratios, parent_ratios).confidence_interval(0.95)
    assert found.nats_per_character_difference == pytest.approx(-0.04)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    assert (found.verdict, found.interval, found.seeds) == ("better", "seeds and text", 4)
    assert found.p == pytest.approx(stats.ttest_rel(arm_ratios, parent_ratios).pvalue)
    assert found.text_error == pytest.approx(0, abs=1e-12)


def test_both_variances_add_up():
    rng = np.random.default_rng(5)
    characters = rng.integers(200, 1200, 30)
    arm = [scores(characters * (1.05 + rng.normal(0, 0.1, 30)), characters) for _ in range(3)]
    parent = [scores(characters * (1.10 + rng.normal(0, 0.1, 30)), characters) for _ in range(3)]
    per_seed = [(a.nats.sum() - p.nats.sum()) / characters.sum() for a, p in zip(arm, parent, strict=True)]
    moved = np.mean([a.nats - p.nats for a, p in zip(arm, parent, strict=True)], axis=0)
    ratio = moved.sum() / characters.sum()
    over_text = sum(((moved - ratio * characters) / characters.mean()) ** 2) / 29 / 30
    half = 4.30265273 * math.sqrt(np.var(per_seed, ddof=1) / 3 + over_text)
    found = difference(arm, parent)
    assert (found.low, found.high) == pytest.approx((np.mean(per_seed) - half, np.mean(per_seed) + half))
    assert found.spread == pytest.approx(np.std(per_seed, ddof=1))
    assert found.text_error == pytest.approx(math.sqrt(over_text))
    t = np.mean(per_seed) / math.sqrt(np.var(per_seed, ddof=1) / 3 + over_text)
    assert found.p == pytest.approx(2 * stats.t.sf(abs(t), 2))


@pytest.mark.parametrize(
    ("shift", "verdict"), [(-0.1, "better"), (0.1, "worse"), (0.0, "no difference seen")]
)
def test_the_sign_is_arm_minus_parent(shift, verdict):
    rng = np.random.default_rng(2)
    parent = [scores(13 + rng.normal(0, 0.1, 50)) for _ in range(3)]
    arm = [scores(p.nats + 10 * shift + rng.normal(0, 0.1, 50)) for p in parent]
    assert difference(arm, parent).verdict == verdict


@pytest.mark.parametrize("seeds", [1, 2])
def test_too_few_seeds_are_not_judged_however_clear_the_text(seeds):
    found = difference([scores([10.0, 10.1, 10.2])] * seeds, [scores([20.0, 20.1, 20.3])] * seeds)
    assert found.high is not None and found.high < 0
    assert (found.verdict, found.interval) == ("one seed: not judged", "text")
    alone = stats.ttest_1samp([-1.0, -1.0, -1.01], 0).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((alone.low, alone.high))


def test_one_story_and_one_seed_say_nothing():
    found = difference([scores([10.0])], [scores([20.0])])
    assert (found.nats_per_character_difference, found.low, found.high) == (-1.0, None, None)
    assert (found.verdict, found.interval) == ("one seed: not judged", "nothing")


def test_one_story_and_three_seeds_allow_for_seeds_only():
    arm, parent = [1.0, 1.1, 1.2], [1.3, 1.2, 1.4]
    found = difference([scores([10 * r]) for r in arm], [scores([10 * r]) for r in parent])
    expected = stats.ttest_rel(arm, parent).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    assert (found.interval, found.verdict) == ("seeds", "no difference seen")


def test_a_level_is_the_mean_over_seeds():
    found = level([scores([10.0, 12.0]), scores([11.0, 15.0]), scores([12.0, 12.0])])
    assert found.nats_per_character == pytest.approx(1.2)
    assert (found.seeds, found.interval) == (3, "seeds and text")
    assert found.spread == pytest.approx(0.1)  # of 1.1, 1.3, 1.2


@pytest.mark.parametrize(
    ("arm", "p", "verdict"), [([1.0] * 3, 0.0, "better"), ([2.0] * 3, 1.0, "no difference seen")]
)
def test_no_variance_at_all_is_judged_by_what_is_seen(arm, p, verdict):
    found = difference([scores([10 * r]) for r in arm], [scores([20.0])] * 3)
    assert (found.p, found.verdict, found.spread) == (p, verdict, 0.0)


@pytest.mark.parametrize("seeds", [1, 2])
def test_what_is_not_judged_has_no_p(seeds):
    found = difference([scores([10.0, 11.0])] * seeds, [scores([20.0, 21.5])] * seeds)
    assert found.p is None
    assert (found.spread is None) == (found.noise_floor is None) == (seeds == 1)


@given(
    st.lists(st.tuples(st.floats(0, 3), st.floats(0, 3)), min_size=3, max_size=12),
    st.lists(st.floats(-0.5, 0.5), min_size=1, max_size=5),
)
def test_p_and_interval_agree(ratios, stories):
    """p is below 0.05 exactly where the interval leaves out zero, whatever was measured."""
    lengths = [100 * (place + 1) for place in range(len(stories))]
    arm = [scores([(a + e) * c for e, c in zip(stories, lengths, strict=True)], lengths) for a, _ in ratios]
    parent = [scores([b * c for c in lengths], lengths) for _, b in ratios]
    found = difference(arm, parent)
    assert found.p is not None and found.low is not None and found.high is not None
    assert 0 <= found.p <= 1
    assert (found.p < 0.05) == (not found.low <= 0 <= found.high) == (found.verdict in ("better", "worse"))


def test_the_noise_floor_is_how_far_apart_two_runs_of_an_arm_lie():
    """By hand over all pairs of both arms: 0.1, 0.2, 0.3 in the arm, 0.4, 0.0, 0.4 in its parent."""
    arm, parent = [1.0, 1.1, 1.3], [1.4, 1.8, 1.8]
    found = difference([scores([10 * r]) for r in arm], [scores([10 * r]) for r in parent])
    pairs = [0.1, 0.3, 0.2, 0.4, 0.4, 0.0]
    assert found.noise_floor == pytest.approx(math.sqrt(sum(pair**2 for pair in pairs) / 6))


def test_differences_keep_the_numbers_of_their_seeds():
    arm, parent = [scores([10.0]), scores([12.0])], [scores([11.0]), scores([15.0])]
    found = difference(arm, parent, seeds=[3, 5]).seed_differences
    assert [one.seed for one in found] == [3, 5]
    assert [one.difference for one in found] == pytest.approx([-0.1, -0.3])
    with pytest.raises(ValueError, match="its seed: 2 pairs, 1 seeds"):
        difference(arm, parent, seeds=[3])


@pytest.mark.parametrize(
    ("arm", "parent", "message"),
    [
        ([scores([1.0], [10])], [scores([1.0], [11])], "same stories"),
        ([scores([1.0], [10])], [scores([1.0, 2.0], [10, 10])], "same stories"),
        ([scores([1.0])], [scores([1.0])] * 2, "in pairs"),
        ([], [], "at least one seed"),
    ],
)
def test_what_cannot_be_compared(arm, parent, message):
    with pytest.raises(ValueError, match=message):
        difference(arm, parent)


@pytest.mark.parametrize(("nats", "characters"), [([math.nan], [1]), ([1.0], [0]), ([], []), ([1.0], [1, 2])])
def test_scores_that_are_none(nats, characters):
    with pytest.raises(ValueError, match="scores need"):
        scores(nats, characters)


@pytest.mark.parametrize(("over_seeds", "over_text"), [(0.016, 0.05), (0.016, 0.4), (0.0, 0.2)])
def test_the_interval_covers_what_it_promises(over_seeds, over_text):
    """2,000 simulated studies with a true difference of −0.03: the interval holds it in at least 95% of them.

    Text and seeds are drawn anew in each. The degrees of freedom are those of the seeds alone, so the
    interval errs on the safe side where the text dominates.
    """
    rng, truth, covered = np.random.default_rng(0), -0.03, 0
    for _ in range(2000):
        characters = rng.integers(300, 1500, 60)
        shared = rng.normal(0, over_text, 60)
        arm, parent = [], []
        for _ in range(3):
            parent.append(scores(characters * 1.1, characters))
            moved = truth + rng.normal(0, over_seeds) + shared
            arm.append(scores(characters * (1.1 + moved), characters))
        found = difference(arm, parent)
        assert found.low is not None and found.high is not None
        covered += found.low <= truth <= found.high
    assert covered >= 0.94 * 2000
