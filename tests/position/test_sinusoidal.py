"""Sinusoidal positions: the waves of Vaswani et al. 2017, section 3.5."""

from typing import Any

import mpmath
import numpy as np
import pytest
import torch

from onechange.position.sinusoidal import SinusoidalPosition
from onechange.sizes import Sizes

turns: dict[str, Any] = {"amplitude": (0.02, 1.0)}
text_length = 8

SIZES = Sizes(layers=1, heads=2, width=16, window=6, vocabulary=11)


def added(position: SinusoidalPosition, positions: list[int], width: int = 16) -> np.ndarray:
    return position.embed(torch.zeros(1, len(positions), width), torch.tensor(positions))[0].double().numpy()


@pytest.mark.parametrize("place", [0, 1, 5, 6, 4095, 8191])
def test_the_waves_are_the_paper_s_to_the_last_digit_of_float32(place: int):
    with mpmath.workdps(40):
        exact = []
        for pair in range(8):
            angle = place / mpmath.mpf(10_000) ** (mpmath.mpf(2 * pair) / 16)
            exact += [float(mpmath.sin(angle)), float(mpmath.cos(angle))]
    found = added(SinusoidalPosition(SIZES, amplitude=1.0), [place])[0]
    np.testing.assert_allclose(found, exact, rtol=1e-7, atol=0)


def test_they_have_the_amplitude():
    found = added(SinusoidalPosition(SIZES), list(range(2000)))
    np.testing.assert_allclose((found**2).mean(), 0.02**2 / 2, rtol=1e-6)
    large = added(SinusoidalPosition(SIZES, amplitude=1.0), list(range(2000)))
    np.testing.assert_allclose(found, 0.02 * large, rtol=1e-6)


def test_a_shift_is_a_rotation_of_each_pair_the_same_everywhere():
    """What the paper chose them for: p(t + k) is linear in p(t)."""
    found = added(SinusoidalPosition(SIZES, amplitude=1.0), list(range(300))).reshape(300, 8, 2)
    waves = found[..., 1] + 1j * found[..., 0]
    shift = waves[17:] / waves[:-17]
    np.testing.assert_allclose(shift, np.broadcast_to(shift[:1], shift.shape), atol=1e-6)


def test_an_odd_width_ends_with_a_sine():
    sizes = Sizes(layers=1, heads=1, width=3, window=6, vocabulary=11)
    found = added(SinusoidalPosition(sizes, amplitude=1.0), [2], width=3)[0]
    np.testing.assert_allclose(found, [np.sin(2), np.cos(2), np.sin(2 * 10_000 ** (-2 / 3))], rtol=1e-6)


def test_the_waves_stay_float32_when_a_model_is_cast_and_are_rounded_after_the_sum():
    position = SinusoidalPosition(SIZES, amplitude=1.0).to(torch.bfloat16)
    assert position.waves.values.dtype == torch.float32
    x = torch.full((1, 1, 16), 1.0, dtype=torch.bfloat16)
    found = position.embed(x, torch.tensor([500]))
    assert found.dtype == torch.bfloat16
    exact = 1 + added(SinusoidalPosition(SIZES, amplitude=1.0), [500])[0]
    assert torch.equal(found[0, 0], torch.from_numpy(exact).float().bfloat16())


def test_nothing_is_learned_and_nothing_else_is_done():
    position, x = SinusoidalPosition(SIZES), torch.randn(1, 2, 3, 8)
    assert not list(position.parameters())
    assert position.rotate(x, torch.arange(3)) is x
    assert position.bias(torch.arange(3), torch.arange(3)) is None


@pytest.mark.parametrize("amplitude", [0.0, -1.0])
def test_an_amplitude_that_adds_nothing_is_refused(amplitude: float):
    with pytest.raises(ValueError, match=rf"position\.amplitude = {amplitude}: must be above 0"):
        SinusoidalPosition(SIZES, amplitude=amplitude)
