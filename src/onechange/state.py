"""A model's weights and an optimizer's memory as named tensors: for the disk, and for other processes."""

from collections.abc import Mapping

import torch
from torch import Tensor, nn


def weights(model: nn.Module) -> dict[str, Tensor]:
    """Every parameter under its name."""
    return {name: parameter.detach().contiguous() for name, parameter in model.named_parameters()}


@torch.no_grad()
def put_weights(model: nn.Module, saved: Mapping[str, Tensor]) -> None:
    """Let ``model`` have what `weights` gave."""
    for name, parameter in model.named_parameters():
        parameter.copy_(saved[name])


def optimizer_state(model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """What ``optimizer`` remembers, each tensor under its parameter's name and its own."""
    return {
        f"{name}/{key}": value.contiguous()
        for name, parameter in model.named_parameters()
        for key, value in optimizer.state.get(parameter, {}).items()
    }


def put_optimizer_state(
    model: nn.Module, optimizer: torch.optim.Optimizer, saved: Mapping[str, Tensor]
) -> None:
    """Let ``optimizer`` have what `optimizer_state` gave, on the device of each parameter."""
    for name, parameter in model.named_parameters():
        prefix = f"{name}/"
        found = {key.removeprefix(prefix): value for key, value in saved.items() if key.startswith(prefix)}
        if found:  # an optimizer that has not stepped yet makes its own
            optimizer.state[parameter] = {key: value.to(parameter.device) for key, value in found.items()}
