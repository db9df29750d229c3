"""What an arm costs beside its parent: medians, ratios and speeds counted by hand."""

from typing import Any

import pytest

from onechange.costs import COSTS, costs, speed

HISTORY = [
    {"step": 1, "tokens": 64, "characters": 130, "seconds": 2.0},
    {"step": 10, "tokens": 640, "characters": 1300, "seconds": 4.0},
]


def arm(parameters: int, speeds: list[float | None], status: str = "finished") -> dict[str, Any]:
    runs = [
        {"status": status, "tokens_per_second": each, "characters_per_second": each, "peak_memory_bytes": 100}
        for each in speeds
    ]
    return {"parameters": parameters, "operations_per_character": 6.0 * parameters, "runs": runs}


def test_speed_is_of_the_whole_run() -> None:
    assert speed(HISTORY, "tokens") == 160
    assert speed(HISTORY, "characters") == 325
    assert speed([{**HISTORY[0], "seconds": None}], "tokens") is None
    assert speed([*HISTORY, {**HISTORY[1], "seconds": None}], "tokens") == 160, "the last that has a time"


def test_each_cost_is_a_median_over_runs_beside_the_parents() -> None:
    found = costs(arm(300, [10.0, 90.0, 20.0]), arm(200, [40.0, 40.0]))
    assert set(found) == set(COSTS)
    assert found["parameters"] == {"value": 300, "low": 300, "high": 300, "ratio": 1.5}
    assert found["operations_per_character"]["ratio"] == 1.5
    assert found["tokens_per_second"] == {"value": 20.0, "low": 10.0, "high": 90.0, "ratio": 0.5}
    assert found["peak_memory_bytes"]["value"] == 100


@pytest.mark.parametrize("parent", [None, arm(200, []), arm(200, [5.0], "running"), arm(200, [None])])
def test_without_a_parents_figure_there_is_no_ratio(parent: dict[str, Any] | None) -> None:
    found = costs(arm(300, [10.0]), parent)["tokens_per_second"]
    assert (found["value"], found["ratio"]) == (10.0, None)


def test_without_a_finished_run_there_is_no_speed() -> None:
    found = costs(arm(300, [10.0], "failed"), arm(200, [40.0]))["characters_per_second"]
    assert set(found.values()) == {None}
