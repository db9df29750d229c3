"""Checkpoints: weights, optimizer and state of one step in a folder; `best.json` and `last.json` point to two of them.

The order of writing is what makes a kill at any instant harmless: first the folder, whole; then the pointers; then,
and only then, folders that no pointer names are deleted.
"""

import json
from collections.abc import Mapping, Set
from pathlib import Path
from typing import Any, Literal, get_args

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from onechange import atomic
from onechange.state import optimizer_state, put_optimizer_state, weights

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
            _save(weights(model), folder / "model.safetensors")
            _save(optimizer_state(model, optimizer), folder / "optimizer.safetensors")
            (folder / "state.json").write_text(json.dumps({"step": step, **state}, sort_keys=True) + "\n")

        atomic.folder(self.at(step), fill)

    def point(self, which: Which, step: int) -> None:
        """Let ``best`` or ``last`` name the checkpoint of ``step``."""
        assert self.at(step).is_dir(), f"{self.at(step)} must be in place before a pointer names it"
        atomic.write(self.folder / f"{which}.json", json.dumps({"step": step}) + "\n")

    def step(self, which: Which) -> int | None:
        """The step that a pointer names, ``None`` if nothing was saved yet."""
        path = self.folder / f"{which}.json"
        try:
            return int(json.loads(path.read_text())["step"]) if path.is_file() else None
        except (ValueError, LookupError, TypeError):
            raise _damaged(path) from None

    def tidy(self) -> None:
        """Delete every checkpoint that no pointer names, unfinished ones too."""
        named = [self.step(which) for which in get_args(Which)]
        kept = [self.at(step).name for step in named if step is not None]
        for folder in sorted(self.folder.glob("step-*")):
            if folder.name not in kept:
                atomic.remove(folder)

    def load(self, step: int, model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Any]:
        """Put a checkpoint's weights and optimizer state in place; returns its state.

        A `ValueError` names what does not fit or is damaged.
        """
        self.load_weights(step, model)
        path = self.at(step) / "optimizer.safetensors"
        saved = _tensors(path)
        parameters = dict(model.named_parameters())
        _refuse(path, {key.rpartition("/")[0] for key in saved} - parameters.keys())
        put_optimizer_state(model, optimizer, saved)
        return json.loads((self.at(step) / "state.json").read_text())

    @torch.no_grad()
    def load_weights(self, step: int, model: nn.Module) -> None:
        """Put a checkpoint's weights in place; a `ValueError` names what does not fit or is damaged."""
        path = self.at(step) / "model.safetensors"
        saved = _tensors(path)
        parameters = dict(model.named_parameters())
        _refuse(path, saved.keys() ^ parameters.keys())
        for name, parameter in parameters.items():
            if saved[name].shape != parameter.shape:
                raise ValueError(
                    f"{path}: {name} has shape {list(saved[name].shape)}, the recipe's is {list(parameter.shape)}"
                )
        for name, parameter in parameters.items():
            parameter.copy_(saved[name])


def _tensors(path: Path) -> dict[str, Tensor]:
    try:
        return load_file(path)
    except FileNotFoundError:
        raise FileNotFoundError(f"{path} is missing") from None
    except SafetensorError:
        raise _damaged(path) from None


def _damaged(path: Path) -> ValueError:
    return ValueError(f"{path} is damaged: delete its folder 'checkpoints' to begin this run anew")


def _refuse(path: Path, odd: Set[str]) -> None:
    if odd:
        raise ValueError(f"{path}: its weights are not this recipe's: {', '.join(sorted(odd)[:5])}")


def _save(tensors: dict[str, Tensor], path: Path) -> None:
    """`save_file`, whose error for a full disk is no `OSError`."""
    try:
        save_file(tensors, path)
    except SafetensorError as error:
        raise OSError(f"{path} cannot be written: {error}") from None
