"""What a course on language models asks of training (Stanford CS336, assignment 1), by plain calls of the library.

Its adapters for the loss, clipping, AdamW, the schedule and checkpoints. Two things do not fit: batches drawn at random
(`run_get_batch`), since ours are a pure function of seed, step and row over a text read as a ring, and checkpoints
written to an open file, since ours are folders.
"""

import math
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from onechange.checkpoint import Checkpoints
from onechange.optimizer.adamw import AdamW
from onechange.schedule.cosine import Cosine

# The adapters


def run_cross_entropy(inputs: Tensor, targets: Tensor) -> Tensor:
    return F.cross_entropy(inputs, targets)


def run_gradient_clipping(parameters: Iterable[nn.Parameter], max_l2_norm: float) -> None:
    nn.utils.clip_grad_norm_(parameters, max_l2_norm)


def get_adamw_cls() -> type[torch.optim.Optimizer]:
    return torch.optim.AdamW


def run_get_lr_cosine_schedule(
    it: int, max_learning_rate: float, min_learning_rate: float, warmup_iters: int, cosine_cycle_iters: int
) -> float:
    schedule = Cosine(warmup=warmup_iters, final=min_learning_rate / max_learning_rate)
    return max_learning_rate * schedule.share(it, cosine_cycle_iters)


def run_save_checkpoint(
    model: nn.Module, optimizer: torch.optim.Optimizer, iteration: int, out: Path
) -> None:
    Checkpoints(out).save(iteration, model, optimizer, {})


def run_load_checkpoint(src: Path, model: nn.Module, optimizer: torch.optim.Optimizer) -> int:
    found = Checkpoints(src)
    return found.load(found.steps()[0], model, optimizer)["step"]


# What they give


def drawn(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape)


@pytest.mark.parametrize("scale", [1.0, 1000.0])
def test_cross_entropy_is_stable(scale: float):
    scores, targets = torch.from_numpy(drawn(8, 5)).float() * scale, torch.arange(8) % 5
    numbers = scores.double().numpy()
    highest = numbers.max(1, keepdims=True)
    nats = np.log(np.exp(numbers - highest).sum(1)) + highest[:, 0] - numbers[np.arange(8), targets]
    found = run_cross_entropy(scores, targets)
    assert float(found) == pytest.approx(nats.mean(), rel=1e-6)


def with_gradients() -> tuple[list[nn.Parameter], list[np.ndarray]]:
    """Seven parameters, of which one is frozen and one was not used."""
    gradients = [drawn(5, 5, seed=number) for number in range(5)]
    parameters = [nn.Parameter(torch.zeros(5, 5), requires_grad=number != 5) for number in range(7)]
    for parameter, gradient in zip(parameters, gradients, strict=False):
        parameter.grad = torch.from_numpy(gradient).float()
    return parameters, gradients


@pytest.mark.parametrize("most", [0.01, 1.0, 5.0])
def test_all_gradients_together_are_cut_to_a_norm(most: float):
    parameters, gradients = with_gradients()
    norm = math.sqrt(sum((gradient**2).sum() for gradient in gradients))
    assert norm > 5
    run_gradient_clipping(parameters, most)
    for parameter, gradient in zip(parameters, gradients, strict=False):
        assert parameter.grad is not None
        np.testing.assert_allclose(parameter.grad, gradient * most / (norm + 1e-6), rtol=1e-5)
    assert parameters[5].grad is parameters[6].grad is None


def test_small_gradients_are_left_alone():
    parameters, gradients = with_gradients()
    run_gradient_clipping(parameters, 100.0)
    for parameter, gradient in zip(parameters, gradients, strict=False):
        np.testing.assert_array_equal(parameter.grad, gradient.astype(np.float32))


def learned(optimizer: torch.optim.Optimizer, weight: nn.Parameter, inputs: np.ndarray) -> np.ndarray:
    """Least squares; the sum of each row's features is asked for."""
    x = torch.from_numpy(inputs).float()
    for row in x:
        optimizer.zero_grad()
        (weight @ row - row.sum()).square().sum().backward()
        optimizer.step()
    return weight.detach().numpy()


def plain_adamw(
    weight: np.ndarray, inputs: np.ndarray, rate: float, beta1: float, beta2: float, decay: float
) -> np.ndarray:
    """Loshchilov and Hutter 2017, algorithm 2, in float64."""
    first, second = np.zeros_like(weight), np.zeros_like(weight)
    for step, x in enumerate(inputs, 1):
        gradient = 2 * np.outer(weight @ x - x.sum(), x)
        first = beta1 * first + (1 - beta1) * gradient
        second = beta2 * second + (1 - beta2) * gradient**2
        mean, square = first / (1 - beta1**step), second / (1 - beta2**step)
        weight = weight - rate * (mean / (np.sqrt(square) + 1e-8) + decay * weight)
    return weight


@pytest.mark.parametrize(("beta2", "decay"), [(0.999, 0.01), (0.95, 0.5)])
def test_adamw(beta2: float, decay: float):
    inputs, start = drawn(300, 3), drawn(2, 3, seed=1)
    expected = plain_adamw(start, inputs, 1e-2, 0.9, beta2, decay)
    assert np.abs(expected - start).max() > 0.3
    course, ours = (nn.Parameter(torch.from_numpy(start).float()) for _ in range(2))
    theirs = get_adamw_cls()([course], lr=1e-2, betas=(0.9, beta2), eps=1e-8, weight_decay=decay)  # type: ignore[call-arg]
    member = AdamW(learning_rate=1e-2, beta1=0.9, beta2=beta2, weight_decay=decay)
    np.testing.assert_allclose(learned(theirs, course, inputs), expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(
        learned(member.make([("ours", ours)]), ours, inputs), expected, rtol=1e-4, atol=1e-5
    )


def test_the_learning_rate_rises_falls_along_a_cosine_and_stays():
    found = [run_get_lr_cosine_schedule(it, 2.0, 0.5, 4, 12) for it in range(16)]
    falling = [0.5 + 0.75 * (1 + math.cos(math.pi * share / 8)) for share in range(9)]
    assert found == pytest.approx([0, 0.5, 1, 1.5, *falling, 0.5, 0.5, 0.5], rel=1e-12)
    assert found[8] == pytest.approx(1.25), "half of the way"


def test_without_a_warm_up_the_rate_begins_at_its_most():
    found = [run_get_lr_cosine_schedule(it, 1.0, 0.1, 0, 2) for it in range(4)]
    assert found == pytest.approx([1, 0.55, 0.1, 0.1], rel=1e-12)


class Net(nn.Module):
    """Three layers."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(6, 9), nn.ReLU(), nn.Linear(9, 4), nn.ReLU(), nn.Linear(4, 2))
        random = np.random.default_rng(seed)
        with torch.no_grad():
            for parameter in self.parameters():
                parameter.copy_(torch.from_numpy(random.standard_normal(parameter.shape)))


def test_what_is_saved_goes_on_as_if_nothing_had_been(tmp_path: Path):
    x = torch.from_numpy(drawn(8, 6)).float()

    def made(seed: int) -> tuple[Net, torch.optim.Optimizer]:
        net = Net(seed)
        return net, get_adamw_cls()(net.parameters(), lr=1e-2)  # type: ignore[call-arg]  # typed as any optimizer

    def go_on(net: Net, optimizer: torch.optim.Optimizer, steps: int) -> list[Tensor]:
        for _ in range(steps):
            optimizer.zero_grad()
            net.layers(x).square().mean().backward()
            optimizer.step()
        return [parameter.detach().clone() for parameter in net.parameters()]

    first, other = made(0), made(1)
    before = go_on(*first, 5)
    run_save_checkpoint(*first, 5, tmp_path / "checkpoint")
    expected = go_on(*first, 5)
    assert run_load_checkpoint(tmp_path / "checkpoint", *other) == 5
    assert all(map(torch.equal, other[0].parameters(), before))
    assert all(map(torch.equal, go_on(*other, 5), expected))
    assert not any(map(torch.equal, before, expected))
