"""What every member of `schedule` must do. Members are found, not listed."""

import member_facts
import pytest

from onechange import family
from onechange.schedule import Schedule

pytestmark = pytest.mark.parametrize("name", family.members("schedule"))


def built(name: str, **other: object) -> Schedule:
    return family.build("schedule", member_facts.resolved("schedule", name, **other))


def shares(schedule: Schedule, steps: int) -> list[float]:
    return [schedule.share(step, steps) for step in range(1, steps + 1)]


@pytest.mark.parametrize("steps", [1, 2, 7, 40, 500])
def test_a_share_of_the_peak_is_in_0_to_1(name: str, steps: int):
    for schedule in (built(name), family.build("schedule", family.resolve("schedule", name))):
        found = shares(schedule, steps)
        assert all(0 <= share <= 1 for share in found)
        assert any(found), "a run that never learns"


@pytest.mark.parametrize("steps", [1, 5, 40])
def test_before_the_first_step_and_beyond_the_last(name: str, steps: int):
    settings = [member_facts.resolved("schedule", name), family.resolve("schedule", name)]
    if "warmup" in family.defaults("schedule", name):
        settings.append(family.resolve("schedule", {"name": name, "warmup": 0}))
    for schedule in (family.build("schedule", each) for each in settings):
        assert 0 <= schedule.share(0, steps) <= 1
        last = schedule.share(steps, steps)
        assert [schedule.share(steps + more, steps) for more in (1, 7, 1000)] == [last] * 3


def test_nothing_is_remembered(name: str):
    forwards, backwards = built(name), built(name)
    found = [backwards.share(step, 50) for step in range(50, 0, -1)]
    assert shares(forwards, 50) == found[::-1]
    shares(forwards, 7)
    assert shares(forwards, 50) == found[::-1]


def test_every_setting_turns_something(name: str):
    steps = member_facts.facts("schedule", name).text_length
    for setting, (_, other) in member_facts.turns("schedule", name).items():
        assert shares(built(name), steps) != shares(built(name, **{setting: other}), steps), setting


def test_a_wrong_setting_says_what_is_wrong(name: str):
    member_facts.wrong_settings_are_named("schedule", name)
