"""The overfitting point of a history, by hand."""

import pytest

from onechange.overfitting import overfitting


def rows(*figures):
    return [
        {"step": step, "training_nats_per_character": training, "validation_nats_per_character": validation}
        for step, training, validation in figures
    ]


def test_by_hand():
    found = overfitting(rows((1, 3.1, 3.0), (200, 1.2, 1.3), (400, 0.9, 1.25), (600, 0.6, 1.45)))
    assert found is not None
    assert (found.step, found.nats_per_character) == (400, 1.25)
    assert found.rise == pytest.approx(0.2)
    assert found.gap_at_best == pytest.approx(0.35) and found.gap_at_last == pytest.approx(0.85)


def test_a_run_that_never_rises_has_no_rise():
    found = overfitting(rows((1, 3.0, 3.0), (200, 1.2, 1.3)))
    assert found is not None and (found.step, found.rise) == (200, 0.0)
    assert found.gap_at_best == found.gap_at_last


def test_the_earliest_of_equals_is_the_point():
    found = overfitting(rows((1, 3.0, 3.0), (200, 1.2, 1.3), (400, 1.0, 1.3)))
    assert found is not None and found.step == 200


def test_without_figures_there_is_none():
    assert overfitting([]) is None
    assert overfitting(rows((1, 3.0, None), (2, None, None))) is None
