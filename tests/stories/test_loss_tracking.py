"""Which measures go with the loss, against scipy, all exchanges one by one, and simulation."""

from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from scipy import stats

from onechange.stories.loss_tracking import Point, tracking


def points(arms=3, seeds=3, checkpoints=("best", "last"), *, rng, arm=0.0, seed=0.0, noise=1.0, slope=0.0):
    """Losses and figures of a study: deviations of arm, of seed, of each checkpoint; ``slope`` ties them together."""
    found = []
    for a in range(arms):
        of_arm = rng.normal(0, arm, 2)
        for s in range(seeds):
            of_seed = rng.normal(0, seed, 2)
            for name in checkpoints:
                loss, figure = of_arm + of_seed + rng.normal(0, noise, 2)
                found.append(Point(f"arm-{a}", s, name, loss, figure + slope * loss))
    return found


def spearmans(some) -> Any:
    return stats.spearmanr([point.nats_per_character for point in some], [point.figure for point in some])


def test_over_all_checkpoints_it_is_spearmans():
    some = points(rng=np.random.default_rng(1), slope=0.5)
    found = tracking(some)
    assert found.correlation == pytest.approx(spearmans(some).statistic) and found.checkpoints == 18


def test_between_seeds_by_all_exchanges():
    """Two arms of three seeds at two checkpoints: 36 ways to exchange the runs within their arms."""
    some = points(arms=2, rng=np.random.default_rng(2), seed=2.0, slope=0.4)
    losses, figures = (
        np.array([getattr(p, name) for p in some]).reshape(2, 3, 2)
        for name in ("nats_per_character", "figure")
    )
    x, y = (stats.rankdata(values, axis=1) - 2 for values in (losses, figures))
    rho = float((x * y).sum()) / np.sqrt((x**2).sum() * (y**2).sum())
    by_chance = [
        sum(float((x[arm] * y[arm][list(order)]).sum()) for arm, order in enumerate(orders))
        for orders in product(permutations(range(3)), repeat=2)
    ]
    p = np.mean(np.abs(by_chance) >= abs((x * y).sum()) - 1e-9)
    found = tracking(some).between_seeds
    assert found.correlation == pytest.approx(rho)
    assert found.p == pytest.approx(p, abs=0.02)
    assert (found.blocks, found.compared) == (2, 6)


def test_between_arms_of_three_nothing_can_be_shown():
    """Of six orders the right one and its reverse are as far from 0 as can be."""
    some = [Point(f"{a}", s, "best", a + s / 100, a + s / 100) for a in range(3) for s in range(3)]
    found = tracking(some).between_arms
    assert found.correlation == pytest.approx(1) and found.p == pytest.approx(1 / 3, abs=0.02)
    assert (found.blocks, found.compared) == (1, 3)


def test_between_checkpoints_it_counts_the_runs_that_move_the_same_way():
    """In 7 of 8 runs the measure rises with the loss: ρ = 6/8, and p that of the sign test."""
    some = [
        Point("arm", s, name, loss, loss if s else -loss)
        for s in range(8)
        for name, loss in (("best", 1.0), ("last", 2.0))
    ]
    found = tracking(some).between_checkpoints
    assert found.correlation == pytest.approx(6 / 8)
    assert found.p == pytest.approx(stats.binomtest(7, 8).pvalue, abs=0.01)
    assert (found.blocks, found.compared) == (8, 16)


def test_runs_are_compared_at_the_checkpoints_that_all_have():
    some = [
        Point("arm", 0, "best", 1.0, 1.0),
        Point("arm", 0, "last", 9.0, 0.0),
        Point("arm", 1, "best", 2.0, 2.0),
    ]
    found = tracking(some)
    assert found.between_seeds.correlation == pytest.approx(1)
    assert found.between_checkpoints.correlation == pytest.approx(-1)


def test_what_is_all_alike_goes_with_nothing():
    some = [Point("arm", s, "best", 1.0 + s, 5.0) for s in range(4)]
    found = tracking(some)
    assert found.correlation is None and found.between_seeds.p is None
    assert tracking([]).correlation is None
    assert tracking(some[:1]).between_seeds.correlation is None


def test_figures_are_the_same_every_time():
    some = points(rng=np.random.default_rng(3))
    assert tracking(some) == tracking(some)


@pytest.mark.long
def test_what_arms_and_runs_share_gives_no_false_alarm():
    """Arms and runs that differ much, and a measure that has nothing to do with the loss. The p that takes all
    checkpoints for independent alarms in more than a third of studies; at each level five in a hundred do at most."""
    rng = np.random.default_rng(4)
    studies, alarms = 400, np.zeros(3)
    naive = 0
    for _ in range(studies):
        some = points(arms=4, seeds=4, rng=rng, arm=3.0, seed=1.0, noise=0.3)
        naive += spearmans(some).pvalue < 0.05
        found = tracking(some)
        levels = (found.between_arms, found.between_seeds, found.between_checkpoints)
        alarms += [level.p is not None and level.p < 0.05 for level in levels]
    assert naive / studies > 0.35
    assert (alarms / studies <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / studies)).all()
    assert (alarms[1:] / studies >= 0.01).all()
