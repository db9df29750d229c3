"""RoPE: a product of a turned query and a turned key depends on their distance only. Su et al. 2021."""

import math
from typing import Any, Literal

import mpmath
import numpy as np
import pytest
import torch

from onechange import family
from onechange.position.rope import RotaryPosition
from onechange.sizes import Sizes

turns: dict[str, Any] = {"theta": (10_000.0, 500.0), "share": (1.0, 0.5), "pairs": ("consecutive", "halves")}
text_length = 24

ARTICLE = Sizes(layers=6, heads=6, width=384, window=512, vocabulary=4096)


def drawn(*shape: int) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(0).standard_normal(shape)).float()


def turned(x: np.ndarray, positions: np.ndarray, theta: float = 10_000.0) -> np.ndarray:
    """Su et al., equations 12 and 13, with pairs of features as complex numbers, in float64."""
    half = x.shape[-1] // 2
    frequency = np.array([math.exp(-math.log(theta) * 2 * pair / x.shape[-1]) for pair in range(half)])
    pairs = x[..., 0::2] + 1j * x[..., 1::2]
    pairs = pairs * np.exp(1j * positions[:, None] * frequency)
    return np.stack([pairs.real, pairs.imag], -1).reshape(x.shape)


def test_a_product_depends_on_the_distance_only():
    rope = RotaryPosition(ARTICLE)
    query, key = drawn(2, 1, 6, 1, 64)

    def product(at: int, and_at: int) -> torch.Tensor:
        return (rope.rotate(query, torch.tensor([at])) * rope.rotate(key, torch.tensor([and_at]))).sum(-1)

    torch.testing.assert_close(product(408, 405), product(8, 5), rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(product(511, 11), product(500, 0), rtol=1e-4, atol=1e-4)
    assert (product(8, 5) - product(5, 8)).abs().max() > 0.1, "the sign of the distance counts"
    assert (product(8, 5) - product(8, 4)).abs().max() > 0.1
    torch.testing.assert_close(product(0, 0), (query * key).sum(-1))


@pytest.mark.parametrize("theta", [10_000.0, 500.0])
def test_every_position_is_turned_as_complex_numbers_in_float64_are(theta: float):
    x = drawn(2, 6, 512, 64)
    ours = RotaryPosition(ARTICLE, theta=theta).rotate(x, torch.arange(512))
    exact = turned(x.double().numpy(), np.arange(512), theta)
    np.testing.assert_allclose(ours.numpy(), exact, rtol=0, atol=2e-6)


def test_all_features_turn_in_consecutive_pairs_with_theta_10_000_unless_told_otherwise():
    assert family.defaults("position", "rope") == {"theta": 10_000.0, "share": 1.0, "pairs": "consecutive"}
    x = drawn(1, 6, 5, 64)
    exact = turned(x.double().numpy(), np.arange(5))
    np.testing.assert_allclose(RotaryPosition(ARTICLE).rotate(x, torch.arange(5)).numpy(), exact, atol=1e-6)


@pytest.mark.parametrize("theta", [10_000.0, 500.0, 1e6])
@pytest.mark.parametrize("place", [1, 511, 512, 8191])
def test_angles_are_exact_to_the_last_digit_of_float32(theta: float, place: int):
    rope = RotaryPosition(ARTICLE, theta=theta)
    with mpmath.workdps(40):
        angles = [place * mpmath.mpf(theta) ** (-mpmath.mpf(2 * pair) / 64) for pair in range(32)]
        cosines, sines = ([float(wave(a)) for a in angles] for wave in (mpmath.cos, mpmath.sin))
    assert rope.cosines.values[place].tolist() == pytest.approx(cosines, rel=1e-7, abs=0)
    assert rope.sines.values[place].tolist() == pytest.approx(sines, rel=1e-7, abs=0)
    found = torch.atan2(rope.sines.values[place].double(), rope.cosines.values[place].double())
    off = [
        math.remainder(ours - float(a % (2 * mpmath.pi)), math.tau)
        for ours, a in zip(found, angles, strict=True)
    ]
    assert all(abs(error) <= 1e-6 * float(a) for error, a in zip(off, angles, strict=True))


@pytest.mark.parametrize("share", [0.25, 0.28125, 0.5, 1.0])
def test_halves_and_a_share_are_gpt_neox_s(share: float):
    from transformers import GPTNeoXConfig
    from transformers.models.gpt_neox import modeling_gpt_neox as neox

    rotary = {
        "rope_type": "default",
        "rope_theta": 10_000.0,
        "partial_rotary_factor": share,
    }
    config = GPTNeoXConfig(hidden_size=384, num_attention_heads=6, rope_parameters=rotary)
    query, key, places = drawn(2, 6, 40, 64), drawn(2, 6, 40, 64).flip(-1), torch.arange(40)
    waves = neox.GPTNeoXRotaryEmbedding(config)(query, places[None])
    rope = RotaryPosition(ARTICLE, share=share, pairs="halves")
    for ours, theirs in zip((query, key), neox.apply_rotary_pos_emb(query, key, *waves), strict=True):
        torch.testing.assert_close(rope.rotate(ours, places), theirs, rtol=1e-5, atol=2e-5)


def test_halves_are_llama_s():
    from transformers import LlamaConfig
    from transformers.models.llama import modeling_llama as llama

    rotary = {"rope_type": "default", "rope_theta": 500_000.0}
    config = LlamaConfig(hidden_size=384, num_attention_heads=6, rope_parameters=rotary)
    query, key, places = drawn(2, 6, 40, 64), drawn(2, 6, 40, 64).flip(-1), torch.arange(40) + 100
    waves = llama.LlamaRotaryEmbedding(config)(query, places[None])
    rope = RotaryPosition(ARTICLE, theta=500_000.0, pairs="halves")
    for ours, theirs in zip((query, key), llama.apply_rotary_pos_emb(query, key, *waves), strict=True):
        torch.testing.assert_close(rope.rotate(ours, places), theirs, rtol=1e-5, atol=5e-5)


@pytest.mark.parametrize("pairs", ["consecutive", "halves"])
def test_features_beyond_the_share_pass_through(pairs: Literal["consecutive", "halves"]):
    x = drawn(1, 6, 9, 64)
    found = RotaryPosition(ARTICLE, share=0.3, pairs=pairs).rotate(x, torch.arange(9))
    assert torch.equal(found[..., 18:], x[..., 18:]), "0.3 · 64 is 19.2, of which 18 make pairs"
    assert (found[..., :18] - x[..., :18])[:, :, 1:].abs().amin((0, 1, 2)).min() > 0


def test_the_two_kinds_of_pairs_are_one_another_with_features_in_another_order():
    x, order = drawn(1, 6, 50, 64), torch.arange(64).view(2, 32).t().flatten()  # 0, 32, 1, 33, …
    halves = RotaryPosition(ARTICLE, pairs="halves").rotate(x, torch.arange(50))
    consecutive = RotaryPosition(ARTICLE).rotate(x[..., order], torch.arange(50))
    assert torch.equal(halves[..., order], consecutive)


@pytest.mark.parametrize("place", [-1, 8192])
def test_a_position_that_has_no_angle_is_an_error(place: int):
    rope = RotaryPosition(ARTICLE)
    assert rope.longest == 8192
    with pytest.raises(IndexError):
        rope.rotate(drawn(1, 6, 1, 64), torch.tensor([place]))


def test_a_window_is_never_more_than_an_eighth_of_the_positions():
    sizes = Sizes(layers=1, heads=1, width=2, window=2000, vocabulary=5)
    assert RotaryPosition(sizes).longest == 16_000


def test_rows_of_a_batch_may_stand_at_positions_of_their_own():
    rope, x = RotaryPosition(ARTICLE), drawn(3, 6, 4, 64)
    places = torch.tensor([[0, 1, 2, 3], [7, 8, 9, 10], [500, 3, 3, 4000]])
    found = rope.rotate(x, places[:, None])
    for row in range(3):
        assert torch.equal(found[row], rope.rotate(x[row], places[row]))


def test_consecutive_features_are_a_pair():
    x = torch.zeros(1, 1, 1, 64)
    x[..., 2] = 1.0
    at_7 = RotaryPosition(ARTICLE).rotate(x, torch.tensor([7]))[0, 0, 0].double()
    angle = 7 * 10_000.0 ** (-2 / 64)
    assert at_7.nonzero().flatten().tolist() == [2, 3]
    assert at_7[2:4].tolist() == pytest.approx([math.cos(angle), math.sin(angle)], abs=1e-7)


def test_lengths_are_kept():
    x = drawn(1, 6, 512, 64)
    torch.testing.assert_close(
        RotaryPosition(ARTICLE).rotate(x, torch.arange(512)).norm(dim=-1), x.norm(dim=-1)
    )


@pytest.mark.parametrize("cast", [False, True])
def test_angles_are_float32_whatever_the_precision(cast: bool):
    """At position 500 an angle rounded to bf16 would be off by a whole radian."""
    rope = RotaryPosition(ARTICLE)
    if cast:
        rope = rope.to(torch.bfloat16)
    assert rope.cosines.values.dtype == rope.sines.values.dtype == torch.float32
    x = drawn(1, 6, 512, 64).bfloat16()
    with torch.autocast("cpu", torch.bfloat16):
        ours = rope.rotate(x, torch.arange(512))
    assert ours.dtype == torch.bfloat16
    exact = torch.from_numpy(turned(x.double().numpy(), np.arange(512)))
    assert torch.equal(ours, exact.bfloat16()) or (ours.double() - exact).abs().max() < 0.02


def test_nothing_is_learned_and_nothing_else_is_done():
    rope = RotaryPosition(ARTICLE)
    x = drawn(1, 3, 384)
    assert not list(rope.parameters())
    assert rope.embed(x, torch.arange(3)) is x
    assert rope.bias(torch.arange(3), torch.arange(3)) is None


def test_an_odd_head_is_refused():
    with pytest.raises(ValueError, match=r"a head has 3 \(width = 6, heads = 2\): choose an even number"):
        RotaryPosition(Sizes(layers=1, heads=2, width=6, window=4, vocabulary=5))


@pytest.mark.parametrize("theta", [1.0, 0.0, -3.0])
def test_a_theta_that_turns_nothing_is_refused(theta: float):
    with pytest.raises(ValueError, match=rf"position\.theta = {theta}: must be above 1"):
        RotaryPosition(ARTICLE, theta=theta)


@pytest.mark.parametrize(
    ("share", "message"),
    [
        (0.0, "must be above 0 and at most 1"),
        (1.5, "must be above 0 and at most 1"),
        (0.03, "must be at least 0.03125, one pair of a head's 64 features"),
    ],
)
def test_a_share_that_leaves_nothing_to_turn_is_refused(share: float, message: str):
    with pytest.raises(ValueError, match=rf"^position\.share = {share}: {message}$"):
        RotaryPosition(ARTICLE, share=share)
