"""What choosing on the validation text cost: by hand, and where it is all luck."""

import numpy as np
import pytest

from onechange.choosing import choosing


def test_by_hand():
    found = choosing(1.20, 1.30, test_at_best=1.26, test_at_last=1.31)
    assert found.gained_on_validation == pytest.approx(0.10)
    assert found.gained_on_test == pytest.approx(0.05)
    assert found.cost == pytest.approx(0.05)


def test_where_checkpoints_differ_by_luck_alone_all_that_was_gained_is_cost():
    """Ten checkpoints equally good: the best of them, chosen on one text, is no better on another.

    The minimum of ten standard normals is −1.5388 on average (Harter, Expected values of normal order statistics,
    Biometrika 48, 1961).
    """
    rng = np.random.default_rng(0)
    found = []
    for _ in range(4000):
        validation, test = 1 + 0.01 * rng.normal(size=(2, 10))
        best = int(validation.argmin())
        found.append(choosing(validation[best], validation[-1], test[best], test[-1]))
    assert np.mean([one.gained_on_test for one in found]) == pytest.approx(0, abs=0.0008)
    assert np.mean([one.cost for one in found]) == pytest.approx(0.015388, abs=0.0008)
