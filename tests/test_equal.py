"""Arms read at equal steps, text, operations and time, against curves whose true values are known."""

import math
from typing import Any

import numpy as np
import pytest
from scipy import interpolate, stats

from onechange.equal import MEASURES, Measure, Runs, at_equal
from onechange.schedule import Schedule
from onechange.schedule.constant import Constant
from onechange.schedule.cosine import Cosine
from onechange.schedule.warmup_stable_decay import WarmupStableDecay

PLANNED = 2000


def history(
    value,
    per_step: float = 100.0,
    every: int = 200,
    steps: int = PLANNED,
    cost: float = 1e6,
    pace: float = 0.05,
) -> list[dict[str, Any]]:
    """Rows of a run whose validation at ``characters`` is ``value(characters)``."""
    return [
        {
            "step": step,
            "characters": step * per_step,
            "operations": step * cost,
            "seconds": step * pace,
            "validation_nats_per_character": value(step * per_step),
        }
        for step in [1, *range(every, steps + 1, every)]
    ]


def runs(name: str, *histories, schedule: Schedule | None = None, steps: int = PLANNED) -> Runs:
    return Runs(name, dict(enumerate(histories)), schedule or Constant(), steps)


def law(floor: float, scale: float = 60.0, power: float = 0.4):
    return lambda characters: floor + scale * characters**-power


def by_hand(rows: list[dict[str, Any]], measure: str, value: float) -> float:
    """The monotone cubic written out: Hermite's, with weighted harmonic means of the two secants as slopes.

    ``value`` lies at a row or between two rows that both have rows on either side.
    """
    x = [math.log(row[measure]) for row in rows]
    y = [row["validation_nats_per_character"] for row in rows]
    at = math.log(value)
    k = max(place for place in range(len(x)) if x[place] <= at + 1e-12)
    if abs(x[k] - at) < 1e-12:
        return y[k]

    def slope(place: int) -> float:
        before, after = x[place] - x[place - 1], x[place + 1] - x[place]
        falls = (y[place] - y[place - 1]) / before, (y[place + 1] - y[place]) / after
        weights = 2 * after + before, after + 2 * before
        return sum(weights) / (weights[0] / falls[0] + weights[1] / falls[1])

    wide = x[k + 1] - x[k]
    t = (at - x[k]) / wide
    return (
        (1 + 2 * t) * (1 - t) ** 2 * y[k]
        + t * (1 - t) ** 2 * wide * slope(k)
        + t**2 * (3 - 2 * t) * y[k + 1]
        + t**2 * (t - 1) * wide * slope(k + 1)
    )


def test_a_power_law_is_read_between_evaluations():
    """BPE reads 2.3 times the text a step; at equal text it has done 1/2.3 of its steps, between two evaluations."""
    wide, narrow = law(0.85), law(1.0, 55.0)
    found = at_equal(runs("bpe", history(wide, 230.0)), runs("characters", history(narrow, 100.0)))
    assert found is not None
    reading = found["characters"]
    assert reading is not None and reading.at == 200_000
    assert reading.arm_share == pytest.approx(1 / 2.3) and reading.parent_share == 1
    truth = wide(200_000) - narrow(200_000)
    assert reading.nats_per_character_difference == pytest.approx(truth, abs=1e-4)
    rows = history(wide, 230.0)
    linear = np.interp(
        200_000,
        [row["characters"] for row in rows],
        [row["validation_nats_per_character"] for row in rows],
    )
    assert abs(linear - narrow(200_000) - truth) > 1e-3, "a straight line would have done"


def test_equal_steps_are_the_last_evaluations():
    found = at_equal(runs("a", history(law(0.85), 230.0)), runs("b", history(law(1.0), 100.0)))
    assert found is not None and found["steps"] is not None
    assert found["steps"].at == PLANNED
    assert found["steps"].nats_per_character_difference == law(0.85)(460_000) - law(1.0)(200_000)
    assert (found["steps"].arm_share, found["steps"].parent_share, found["steps"].why) == (1, 1, None)


def test_operations_and_seconds_are_read_by_their_own_columns():
    """The arm's step costs twice the operations and 1.6 times the time; the same rows are read by hand."""
    dear = history(law(0.9), cost=2e6, pace=0.08)
    found = at_equal(runs("dear", dear), runs("cheap", history(law(1.0))), machine="A made-up processor")
    assert found is not None
    expected: list[tuple[Measure, float, float]] = [
        ("operations", 2e9, 1 / 2),
        ("seconds", 100.0, 1 / 1.6),
    ]
    for measure, at, share in expected:
        reading = found[measure]
        assert reading is not None and reading.at == pytest.approx(at)
        assert reading.arm_share == pytest.approx(share)
        difference = by_hand(dear, measure, at) - law(1.0)(200_000)
        assert reading.nats_per_character_difference == pytest.approx(difference)
    assert found["seconds"] and "A made-up processor" in str(found["seconds"].why)
    assert found["operations"] and found["operations"].why is None


def test_every_seed_is_read_at_the_value_that_all_runs_reached():
    """Texts differ by seed: the shortest run sets the value, and the interval is scipy's paired t."""
    rng = np.random.default_rng(3)
    ours = [history(law(0.85 + noise), 230.0 + 5 * seed) for seed, noise in enumerate(rng.normal(0, 0.01, 4))]
    theirs = [history(law(1.0 + noise), 100.0 - seed) for seed, noise in enumerate(rng.normal(0, 0.01, 4))]
    found = at_equal(runs("a", *ours), runs("b", *theirs))
    assert found is not None and found["characters"] is not None
    reading = found["characters"]
    assert reading.at == 97.0 * PLANNED and reading.seeds == 4
    mine = [by_hand(rows, "characters", reading.at) for rows in ours]
    other = [
        float(
            interpolate.pchip_interpolate(
                np.log([row["characters"] for row in rows]),
                np.array([row["validation_nats_per_character"] for row in rows]),
                np.array([math.log(reading.at)]),
            )[0]
        )
        for rows in theirs  # in their last stretch, where scipy's rule for the end counts
    ]
    expected = stats.ttest_rel(mine, other).confidence_interval(0.95)
    assert (reading.low, reading.high) == pytest.approx((expected.low, expected.high))
    assert reading.parent_share == pytest.approx(np.mean([97 / (100 - seed) for seed in range(4)]))


def test_below_three_seeds_there_is_no_interval():
    found = at_equal(runs("a", *[history(law(0.9))] * 2), runs("b", *[history(law(1.0)), history(law(1.1))]))
    assert found is not None and found["steps"] is not None
    assert (found["steps"].low, found["steps"].high, found["steps"].seeds) == (None, None, 2)


def test_a_rate_that_was_still_high_is_unfair_and_says_what_would_be_fair():
    cosine = Cosine(warmup=100, final=0.1)
    found = at_equal(
        runs("bpe", history(law(0.85), 230.0), schedule=cosine),
        runs("characters", history(law(1.0), 100.0), schedule=cosine),
    )
    assert found is not None and found["characters"] is not None and found["steps"] is not None
    reading = found["characters"]
    step = math.ceil(2000 / 2.3)
    progress = (step - 100) / 1900
    share = 0.1 + 0.9 * 0.5 * (1 + math.cos(math.pi * progress))
    assert not reading.fair
    assert reading.why is not None
    assert f"bpe is read at step {step} of 2,000" in reading.why and f"{share:.0%} of the peak" in reading.why
    assert "budget = { characters = 200000 }" in reading.why
    assert "characters is read" not in reading.why
    assert found["steps"].fair and found["steps"].why is None


@pytest.mark.parametrize(
    ("schedule", "per_step", "fair"),
    [
        (Constant(), 230.0, True),
        (Cosine(warmup=100, final=1.0), 230.0, True),
        (Cosine(warmup=100), 102.0, True),
        (Cosine(warmup=100), 125.0, False),
        (Cosine(warmup=1500, final=0.9), 230.0, False),
        (WarmupStableDecay(decay=0.0), 230.0, True),
        (WarmupStableDecay(), 230.0, False),
        (WarmupStableDecay(), 102.0, False),  # a root falls to the very end
        (WarmupStableDecay(shape="linear"), 100.1, True),
    ],
    ids=[
        "constant",
        "does not fall",
        "its last fiftieth",
        "its last fifth",
        "still warming up",
        "never decays",
        "before its decay",
        "its last fiftieth of a root",
        "its last thousandth of a line",
    ],
)
def test_what_is_fair(schedule, per_step, fair):
    found = at_equal(
        runs("a", history(law(0.9), per_step), schedule=schedule),
        runs("b", history(law(1.0), 100.0), schedule=schedule),
    )
    assert found is not None and found["characters"] is not None
    assert found["characters"].fair is fair


def test_a_run_that_stopped_before_its_schedule_did_is_unfair():
    stopped = runs("a", history(law(0.9), steps=1000), schedule=Cosine())
    found = at_equal(stopped, runs("b", history(law(1.0), steps=1000), schedule=Cosine()))
    assert found is not None and found["steps"] is not None
    assert (found["steps"].at, found["steps"].arm_share, found["steps"].fair) == (1000, 1, False)


def test_what_cannot_be_read_is_none():
    whole = history(law(0.9))
    without_time = [{**row, "seconds": None} for row in whole]
    found = at_equal(runs("a", without_time), runs("b", whole))
    assert found is not None and found["seconds"] is None and found["steps"] is not None
    assert (
        at_equal(Runs("a", {0: whole}, Constant(), PLANNED), Runs("b", {1: whole}, Constant(), PLANNED))
        is None
    )
    assert at_equal(runs("a", []), runs("b", whole)) == dict.fromkeys(MEASURES)
    late = [row for row in whole if row["step"] > 1000]
    early = [row for row in whole if row["step"] <= 1000]
    assert at_equal(runs("a", late), runs("b", early)) == dict.fromkeys(MEASURES)


def test_one_common_evaluation_and_clocks_that_stand_still_are_read():
    first = history(law(0.9))[:1]
    found = at_equal(runs("a", first), runs("b", history(law(1.0))))
    assert found is not None and found["steps"] is not None
    assert found["steps"].nats_per_character_difference == pytest.approx(-0.1)
    stopped = [{**row, "seconds": min(row["seconds"], 50.0)} for row in history(law(0.9))]
    found = at_equal(runs("a", stopped), runs("b", history(law(1.0))))
    assert found is not None and found["seconds"] is not None and found["seconds"].at == 50.0
