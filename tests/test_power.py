"""What a study can find: against the noncentral t distribution, a simulation, and the tables of a textbook."""

import math

import numpy as np
import pytest
from scipy import stats

from onechange import power


@pytest.mark.parametrize("seeds", [3, 4, 5, 10, 100])
@pytest.mark.parametrize("shift", [0.0, 1.0, 2.5, 6.0])
def test_seeds_alone_are_the_noncentral_t(seeds, shift):
    effect = shift * 0.02 / math.sqrt(seeds)
    expected = stats.nct.sf(stats.t.ppf(0.975, seeds - 1), seeds - 1, shift) if shift else 0.025
    assert power.share_found(effect, 0.02, 0.0, seeds) == pytest.approx(expected, abs=1e-5)


def test_a_well_known_example():
    """Half a standard deviation, two-sided, 80%: a paired t test needs 34 pairs, as every table and G*Power say."""
    assert power.seeds_needed(0.5, 1.0, 0.0) == 34


@pytest.mark.parametrize(("spread", "text"), [(0.02, 0.004), (0.01, 0.02), (0.0, 0.01)])
@pytest.mark.parametrize("seeds", [3, 5])
def test_seeds_and_text_as_simulated(spread, text, seeds):
    rng, effect, studies = np.random.default_rng(0), 0.06, 40_000
    values = effect + rng.normal(0, spread, (studies, seeds)) + rng.normal(0, text, (studies, 1))
    error = np.sqrt(values.var(axis=1, ddof=1) / seeds + text**2)
    found = np.mean(values.mean(axis=1) / error > stats.t.ppf(0.975, seeds - 1))
    allowed = 4 * math.sqrt(max(found * (1 - found), 0.001) / studies)
    assert power.share_found(effect, spread, text, seeds) == pytest.approx(found, abs=allowed)


@pytest.mark.parametrize(("spread", "text"), [(0.02, 0.0), (0.02, 0.01), (0.0, 0.01)])
def test_the_resolution_is_found_in_eighty_of_a_hundred(spread, text):
    before = math.inf
    for seeds in (3, 4, 5, 10, 30, 300):
        found = power.resolution(spread, text, seeds)
        assert found is not None
        assert power.share_found(found, spread, text, seeds) == pytest.approx(0.8)
        assert found < before
        before = found


def test_seeds_needed_are_the_fewest():
    needed = power.seeds_needed(0.02, 0.02, 0.003)
    assert needed is not None
    enough, too_few = (power.resolution(0.02, 0.003, seeds) for seeds in (needed, needed - 1))
    assert enough is not None and too_few is not None
    assert enough <= 0.02 < too_few


def test_more_seeds_do_not_help_against_the_text():
    assert power.finest(0.01) == pytest.approx((1.959964 + 0.841621) * 0.01)
    assert power.seeds_needed(0.0280, 0.02, 0.01) is None
    assert power.seeds_needed(0.0281, 0.0, 0.01) is not None
    at_most = power.resolution(0.02, 0.01, power.MOST_SEEDS)
    assert at_most is not None and power.finest(0.01) < at_most < 1.01 * power.finest(0.01)


def test_the_extremes():
    assert power.resolution(0.02, 0.0, 2) is None
    assert power.resolution(0.0, 0.0, 3) == 0.0
    assert power.seeds_needed(0.01, 0.0, 0.0) == 3
    assert power.share_found(0.0, 0.0, 0.0, 3) == 0.0
    assert power.seeds_needed(1e-6, 1.0, 0.0) is None


@pytest.mark.parametrize("seeds", [2, 3, 10])
def test_the_range_of_a_spread_holds_the_true_one(seeds):
    rng = np.random.default_rng(4)
    spreads = rng.normal(0, 0.02, (4000, seeds)).std(axis=1, ddof=1)
    ranges = [power.range_of_spread(float(spread), seeds) for spread in spreads]
    held = np.mean([found.low <= 0.02 <= found.high for found in ranges])
    assert held == pytest.approx(0.95, abs=4 * math.sqrt(0.05 * 0.95 / 4000))


def test_one_seed_has_no_spread():
    with pytest.raises(ValueError, match="needs two seeds"):
        power.range_of_spread(0.0, 1)
