"""What a study says of its stories, from made-up counts whose answer can be worked out."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from scipy import stats

from onechange.stories import collected
from onechange.stories.collected import Run
from onechange.stories.measures import ALL, MEASURES, WORLD


def of_arm(*given: Any, **more: Any) -> dict[str, Any]:
    found = collected.of_arm(*given, **more)
    assert found is not None
    return found


def tracked(arms: Any) -> dict[str, Any]:
    found = collected.tracked(arms)
    assert found is not None
    return found


def written(world: Any = None, **measures: tuple[Sequence[float], Sequence[int]]) -> dict[str, Any]:
    """Four stories of two prompts; measures that are not given count nothing."""
    found = {
        "stories": 4,
        "characters": 400,
        "prompts": [0, 0, 1, 1],
        "measures": {
            name: dict(zip(("counts", "of"), map(list, measures.get(name, ([0] * 4, [1] * 4))), strict=True))
            for name in MEASURES
        },
    }
    return found if world is None else {**found, "world": world}


def run(seed: int, best: dict[str, Any], last: dict[str, Any] | None = None, loss: float = 1.0) -> Run:
    return Run(
        seed,
        {"best": 10, "last": 10 if last is None else 20},
        {"best": loss, "last": loss + 0.5},
        {"best": best, "last": best if last is None else last},
    )


def lengths(*values: float) -> dict[str, Any]:
    return written(length=(values, [1] * 4))


def test_a_figure_is_a_ratio_of_sums_over_the_stories_it_applies_to():
    found = collected.figures(written(copied=([10, 0, 5, 0], [100, 50, 50, 0])))
    assert found.keys() == MEASURES.keys()
    assert found["copied"]["figure"] == 15 / 200
    assert found["copied"]["stories"] == 3
    none = collected.figures(written(copied=([0] * 4, [0] * 4)))["copied"]
    assert none == {"figure": None, "low": None, "high": None, "stories": 0, "interval": "nothing"}


def test_the_world_s_measures_are_of_its_own_stories():
    world = {
        "stories": 2,
        "characters": 20,
        "prompts": [0, 0],
        "measures": {
            "world_parsed": {"counts": [10, 5], "of": [10, 10]},
            "world_contradictions": {"counts": [3, 0], "of": [1, 1]},
        },
    }
    found = collected.figures(written(world))
    assert found.keys() - MEASURES.keys() == {"world_parsed", "world_contradictions"}
    assert (found["world_parsed"]["figure"], found["world_parsed"]["stories"]) == (0.75, 2)
    assert found["world_contradictions"]["figure"] == 1.5
    assert ALL == {**MEASURES, **WORLD}


def test_seeds_are_compared_in_pairs_whatever_their_order():
    arm = [run(seed, lengths(*[100 + 10 * seed + value] * 4)) for seed, value in ((2, 3), (0, 1), (1, 2))]
    parent = [run(seed, lengths(*[100 + 10 * seed] * 4)) for seed in (0, 1, 2, 3)]
    found = of_arm(arm, parent)
    assert found is not None
    assert found["best"]["length"]["figure"] == pytest.approx(112)
    assert found["best"]["length"]["seeds"] == 3
    difference = found["versus_parent"]["length"]
    assert (difference["difference"], difference["seeds"]) == (pytest.approx(2), 3)
    expected: Any = stats.ttest_1samp([1, 2, 3], 0)
    assert difference["p"] == pytest.approx(expected.pvalue)
    low, high = expected.confidence_interval()
    assert (difference["low"], difference["high"]) == (pytest.approx(low), pytest.approx(high))


def test_every_comparison_is_corrected_for_its_measures():
    """Four measures with differences of known p; scipy's false discovery knows no Holm, so it is worked out."""
    spreads = {"length": 0.1, "longest_copy": 0.9, "longest_loop": 1.0, "new_names": 8.0}
    noise = np.array([-1.0, 0.0, 1.0])

    def arm(shift: float) -> list[Run]:
        return [
            run(
                seed,
                written(
                    **{
                        name: ([5 + shift * (4 + s * noise[seed])] * 4, [1] * 4)
                        for name, s in spreads.items()
                    }
                ),
            )
            for seed in range(3)
        ]

    parent = arm(0)
    found = of_arm(arm(1), parent)["versus_parent"]
    tests: dict[str, Any] = {name: stats.ttest_1samp(4 + s * noise, 0) for name, s in spreads.items()}
    p = {name: test.pvalue for name, test in tests.items()}
    assert 0.01 < p["longest_copy"] < 0.05, "alone it is seen, among 13 it is not"
    judged = sorted(found, key=lambda name: found[name]["p"])
    assert found["length"]["p"] == pytest.approx(p["length"])
    largest = 0.0
    for place, name in enumerate(judged):
        largest = max(largest, min(1.0, (len(judged) - place) * found[name]["p"]))
        assert found[name]["p_holm"] == pytest.approx(largest)
    assert len(judged) == len(MEASURES)
    assert found["length"]["verdict"] == "higher"
    assert found["longest_copy"]["verdict"] == "no difference seen"


def test_two_seeds_and_budgets_in_seconds_are_not_judged():
    arm, parent = ([run(seed, lengths(seed, 1, 2, base)) for seed in range(3)] for base in (9, 90))
    two = of_arm(arm[:2], parent[:2])["versus_parent"]["length"]
    assert (two["verdict"], two["p"], two["p_holm"]) == ("one seed: not judged", None, None)
    timed = of_arm(arm, parent, unjudged="budget in seconds: not judged")["versus_parent"]["length"]
    assert (timed["verdict"], timed["p"], timed["p_holm"]) == ("budget in seconds: not judged", None, None)
    assert timed["difference"] == pytest.approx((9 - 90) / 4)


def test_last_is_set_against_best_where_there_is_a_later_one():
    ended = [run(0, lengths(1, 2, 3, 4))]
    assert of_arm(ended, [])["last_versus_best"] is None
    later = [run(1, lengths(1, 2, 3, 4), lengths(5, 6, 7, 8))]
    found = of_arm([*ended, *later], [])
    assert found["versus_parent"] is None and found["versus_parent_last"] is None
    difference = found["last_versus_best"]["length"]
    assert (difference["difference"], difference["seeds"]) == (4, 1)
    assert (found["best"]["length"]["figure"], found["last"]["length"]["figure"]) == (2.5, 4.5)


def test_an_arm_that_wrote_nothing_has_nothing_to_say():
    assert collected.of_arm([], [run(0, lengths(1, 2, 3, 4))]) is None
    assert collected.tracked({"a": [], "b": []}) is None


def test_what_goes_with_the_loss_counts_every_checkpoint_once():
    arms = {
        "a": [
            run(0, lengths(1, 1, 1, 1), loss=1.0),
            run(1, lengths(2, 2, 2, 2), lengths(4, 4, 4, 4), loss=2.0),
        ],
        "b": [run(0, lengths(3, 3, 3, 3), loss=3.0)],
    }
    found = tracked(arms)["length"]
    losses, figures = [1.0, 2.0, 2.5, 3.0], [1, 2, 4, 3]
    assert found["points"] == 4
    spearman: Any = stats.spearmanr(losses, figures)
    assert found["all"] == pytest.approx(spearman.statistic)
    assert found["within_runs"]["rho"] == pytest.approx(1)
    assert tracked(arms)["ended"] == {
        "points": 4, "all": None, "between_arms": None, "within_arms": None, "within_runs": None,
    }  # fmt: skip


def test_measures_that_an_earlier_version_did_not_know_are_left_out():
    old = lengths(1, 2, 3, 4)
    del old["measures"]["copied"]
    new = [run(0, lengths(2, 2, 2, 2))]
    found = of_arm([run(0, old)], new)
    assert "copied" not in found["best"] and "copied" not in found["versus_parent"]
    assert "length" in found["versus_parent"]


def broken(part: str, value: Any, measure: str = "ended") -> dict[str, Any]:
    found = written()
    (found if part == "prompts" else found["measures"][measure])[part] = value
    return found


@pytest.mark.parametrize(
    ("damaged", "message"),
    [
        (broken("prompts", [0]), "4 stories have 1 prompts"),
        (broken("counts", [1]), "ended: 4 stories have 1 counts of 4"),
        (broken("of", [1] * 5), "ended: 4 stories have 4 counts of 5"),
        (broken("counts", [2, 0, 0, 0]), "ended: it is a share"),
        (broken("counts", [-1, 0, 0, 0]), "ended: it is a share"),
        (written(broken("counts", [1])), "ended: 4 stories"),
    ],
)
def test_counts_that_do_not_fit_together_are_told(damaged: dict[str, Any], message: str):
    with pytest.raises(ValueError, match=message):
        collected.check(damaged)
    collected.check(written(written()))
