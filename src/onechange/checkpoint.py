"""Checkpoints: weights, optimizer and state of one step in a folder; `best.json` and `last.json` point to two of them.

The order of writing is what makes a kill at any instant harmless: first the folder, whole; then the pointers; then,
and only then, folders that no pointer names are deleted.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from onechange import atomic

Which = Literal["best", "last"]


class Checkpoints:
    """The folder `checkpoints` of one run."""

    def __init__(self, run: Path) -> None:
        self.folder = run / "checkpoints"

    def at(self, step: int) -> Path:
        """The folder of one step."""
        return self.folder / f"step-{step:06d}"

    def save(
        self, step: int, model: nn.Module, optimizer: torch.optim.Optimizer, state: Mapping[str, Any]
    ) -> None:
        """Write the checkpoint of ``step``; no pointer moves yet."""

        def fill(folder: Path) -> None:
            save_file(_weights(model), folder / "model.safetensors")
            save_file(_optimizer_state(model, optimizer), folder / "optimizer.safetensors")
            (folder / "state.json").write_text(json.dumps({"step": step, **state}, sort_keys=True) + "\n")

        atomic.folder(self.at(step), fill)

    def point(self, which: Which, step: int) -> None:
        """Let ``best`` or ``last`` name the checkpoint of ``step``."""
        assert self.at(step).is_dir(), f"{self.at(step)} must be in place before a pointer names it"
        atomic.write(self.folder / f"{which}.json", json.dumps({"step": step}) + "\n")

    def step(self, which: Which) -> int | None:
        """The step that a pointer names, ``None`` if nothing was saved yet."""
        path = self.folder / f"{which}.json"
        return int(json.loads(path.read_text())["step"]) if path.is_file() else None

    def tidy(self, keep: Iterable[int]) -> None:
        """Delete every checkpoint but those of the steps in ``keep``."""
        kept = {self.at(step).name for step in keep}
        for folder in sorted(self.folder.glob("step-*")):
            if folder.name not in kept:
                atomic.remove(folder)

    def load(self, step: int, model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Any]:
        """Put a checkpoint's weights and optimizer state in place; returns its state."""
        self.load_weights(step, model)
        saved = load_file(self.at(step) / "optimizer.safetensors")
        for name, parameter in model.named_parameters():
            prefix = f"{name}/"
            state = {key.removeprefix(prefix): saved[key] for key in saved if key.startswith(prefix)}
            optimizer.state[parameter] = state
        return json.loads((self.at(step) / "state.json").read_text())

    def load_weights(self, step: int, model: nn.Module) -> None:
        """Put a checkpoint's weights in place; a `ValueError` names what does not fit."""
        path = self.at(step) / "model.safetensors"
        parameters = dict(model.named_parameters())
        with safe_open(path, framework="pt") as file, torch.no_grad():
            names = set(file.keys())
            if names != parameters.keys():
                odd = sorted(names ^ parameters.keys())
                raise ValueError(f"{path}: its weights are not this recipe's: {', '.join(odd[:5])}")
            for name, parameter in parameters.items():
                values = file.get_tensor(name)
                if values.shape != parameter.shape:
                    raise ValueError(
                        f"{path}: {name} has shape {list(values.shape)}, the recipe's is {list(parameter.shape)}"
                    )
                parameter.copy_(values)


def _weights(model: nn.Module) -> dict[str, Tensor]:
    return {name: parameter.detach().contiguous() for name, parameter in model.named_parameters()}


def _optimizer_state(model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    return {
        f"{name}/{key}": value.contiguous()
        for name, parameter in model.named_parameters()
        for key, value in optimizer.state[parameter].items()
    }
